//! What is not the model's fault: it costs time or needs a person, but never a try.

use super::*;

fn after(tally: &Tally, failure: &Failure) -> (Tally, Next) {
    next(&spec(), tally, failure, (Some("a"), Some("acme/x")), &rules(), NOW)
}

fn limit() -> Failure {
    of_class(ErrorClass::RateLimited, FailureMode::Transient)
}

fn trouble() -> Failure {
    of_class(ErrorClass::Network, FailureMode::Transient)
}

fn rest(time: i64, wait: Wait) -> Next {
    Next::Rest { until: NOW + time, wait }
}

#[test]
fn rests_grow_and_stay_at_the_longest() {
    let table = [
        (limit(), Wait::Limit, [5 * MINUTE, 30 * MINUTE, 2 * HOUR, 24 * HOUR, 24 * HOUR, 24 * HOUR]),
        (trouble(), Wait::Trouble, [30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, HOUR, HOUR]),
    ];
    for (failure, wait, times) in table {
        let mut tally = Tally::default();
        for time in times {
            let (then, came) = after(&tally, &failure);
            assert_eq!(came, rest(time, wait));
            tally = then;
        }
        let worn_out = Tally { limits: u32::MAX, troubles: u32::MAX, ..Tally::default() };
        assert_eq!(after(&worn_out, &failure).1, rest(times[5], wait));
    }
}

#[test]
fn a_logic_failure_or_a_success_ends_the_row() {
    let (tally, _) = after(&after(&Tally::default(), &limit()).0, &trouble());
    assert_eq!((tally.limits, tally.troubles), (1, 1));
    let (tally, _) = after(&tally, &logic("red"));
    assert_eq!((tally.limits, tally.troubles), (0, 0));
    assert_eq!(after(&tally, &limit()).1, rest(5 * MINUTE, Wait::Limit));
    let worn = Task { tally: Tally { limits: 3, troubles: 3, ..Tally::default() }, ..task(State::Evaluating) };
    let approved = step(&worn, Event::Approve { head: "def".into() }, &rules(), NOW).unwrap().task;
    assert_eq!((approved.tally.limits, approved.tally.troubles), (0, 0));
    let returned = step(&approved, Event::Return { failure: trouble() }, &rules(), NOW).unwrap().task;
    assert_eq!(returned.state.wakes_at(), Some(NOW + 30 * SECOND));
}

#[test]
fn a_limit_that_says_when_it_is_over_is_believed_unless_that_is_past() {
    let table = [
        (Some(NOW + 7), rest(7, Wait::Limit)),
        (Some(NOW + 48 * HOUR), rest(48 * HOUR, Wait::Limit)),
        // To believe these would be to try again at once, and again.
        (Some(NOW), rest(5 * MINUTE, Wait::Limit)),
        (Some(NOW - 1), rest(5 * MINUTE, Wait::Limit)),
        (Some(i64::MIN), rest(5 * MINUTE, Wait::Limit)),
        (None, rest(5 * MINUTE, Wait::Limit)),
    ];
    for (until, wanted) in table {
        for class in [ErrorClass::RateLimited, ErrorClass::QuotaExhausted, ErrorClass::Overloaded] {
            for mode in [FailureMode::Transient, FailureMode::Resource] {
                let (tally, came) = after(&Tally::default(), &Failure { until, ..of_class(class, mode) });
                assert_eq!((came, tally.limits), (wanted.clone(), 1), "{until:?} {class}");
            }
        }
    }
}

#[test]
fn money_rests_until_its_moment_and_needs_a_person_without_one() {
    let money = of_class(ErrorClass::BudgetRefused, FailureMode::Resource);
    let until = |until| Failure { until, ..money.clone() };
    assert_eq!(after(&Tally::default(), &until(Some(NOW + HOUR))).1, rest(HOUR, Wait::Budget));
    assert_eq!(after(&Tally::default(), &until(Some(NOW - HOUR))).1, rest(0, Wait::Budget));
    assert_eq!(after(&Tally::default(), &until(None)).1, Next::Block(Cause::Budget));
}

#[test]
fn what_is_not_the_models_fault_uses_no_try() {
    let start = Tally { tries: 1, reinforced: 1, lessons: texts(&["x"]), losses: 3, ..Tally::default() };
    let budget = || of_class(ErrorClass::BudgetRefused, FailureMode::Resource);
    let failures = [
        limit(),
        trouble(),
        of_class(ErrorClass::QuotaExhausted, FailureMode::Resource),
        of_class(ErrorClass::ServerError, FailureMode::Transient),
        of_class(ErrorClass::OpencodeUnhealthy, FailureMode::Environment),
        of_class(ErrorClass::AuthInvalid, FailureMode::Environment),
        Failure::environment("no make", "make is missing"),
        budget(),
        Failure { until: Some(NOW + HOUR), ..budget() },
        Failure { mode: FailureMode::Blocked, ..logic("needs") },
        Failure { mode: FailureMode::Ambiguous, ..logic("what") },
    ];
    for failure in failures {
        let (tally, came) = after(&start, &failure);
        let Tally { last, limits, troubles, .. } = tally.clone();
        assert_eq!(tally, Tally { last, limits, troubles, losses: 0, ..start.clone() }, "{failure:?}");
        assert!(!matches!(came, Next::Again | Next::Fail), "{failure:?}");
    }
}

#[test]
fn access_needs_a_person_at_once_whatever_else_is_said() {
    let access = [
        ErrorClass::AuthMissing,
        ErrorClass::AuthInvalid,
        ErrorClass::ModelNotFound,
        ErrorClass::ProviderNotConnected,
        ErrorClass::CapabilityMissing,
        ErrorClass::OpencodeMissing,
    ];
    for class in ErrorClass::ALL {
        for mode in FailureMode::ALL {
            let failure = Failure { until: Some(NOW + HOUR), ..of_class(class, mode) };
            let blocked = after(&Tally::default(), &failure).1 == Next::Block(Cause::Access);
            assert_eq!(blocked, access.contains(&class), "{class} {mode}");
        }
    }
}

#[test]
fn what_only_a_person_can_settle_says_what_it_is() {
    let of = |mode, signature| after(&Tally::default(), &Failure { mode, ..logic(signature) }).1;
    assert_eq!(of(FailureMode::Blocked, "a decision"), Next::Block(Cause::Needs));
    assert_eq!(of(FailureMode::Ambiguous, "what"), Next::Block(Cause::Ambiguous));
    let trespassed = Findings { trespass: texts(&["README.md"]), ..findings() };
    let Judgement::Bad(failure) = judge(&spec(), &trespassed) else { panic!("a trespass is good") };
    assert_eq!(after(&Tally::default(), &failure).1, Next::Block(Cause::Trespass));
}

#[test]
fn workers_that_vanish_park_the_task_after_a_while() {
    let lose = || Event::Lose { detail: "gone".into() };
    for state in [State::Running, State::Evaluating, State::Starting { stage: Stage::Work }] {
        let mut tally = Tally::default();
        for _ in 0..rules().losses {
            let lost = step(&Task { tally, ..task(state.clone()) }, lose(), &rules(), NOW).unwrap().task;
            assert!(!lost.state.phase().is_settled(), "{state:?}");
            tally = lost.tally;
        }
        let step = step(&Task { tally, ..task(state) }, lose(), &rules(), NOW).unwrap();
        let detail = "its worker was lost 6 times in a row; the last time: gone".to_owned();
        assert_eq!(step.task.state, State::Blocked { cause: Cause::Parked, detail });
        assert_eq!((step.resumed, step.task.epoch), (Resumed::Ends, 3));
    }
}

#[test]
fn work_that_ended_breaks_the_row_of_losses() {
    let tired = Tally { losses: 5, ..Tally::default() };
    let worked = step(&Task { tally: tired, ..task(State::Running) }, Event::Worked, &rules(), NOW).unwrap().task;
    assert_eq!(worked.tally.losses, 0);
}
