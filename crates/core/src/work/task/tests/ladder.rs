//! The ladder, step by step: the same tier with what was learned, the next one, and at last a person.

use super::*;
use crate::values::Strategy;

/// What comes of failures one after another, each on the tier that the ladder has reached.
fn climb(spec: &TaskSpec, first_tier: Option<&str>, failures: &[Failure]) -> (Tally, Vec<Next>) {
    let mut tally = Tally::default();
    let came = failures
        .iter()
        .map(|failure| {
            let tier = tally.tier.clone().or(first_tier.map(str::to_owned));
            let (after, came) = next(spec, &tally, failure, (tier.as_deref(), Some("acme/x")), &rules(), NOW);
            tally = after;
            came
        })
        .collect();
    (tally, came)
}

fn distinct(count: usize) -> Vec<Failure> {
    (0..count).map(|number| logic(&format!("failure {number}"))).collect()
}

const TIRED: Next = Next::Block(Cause::Exhausted);

#[test]
fn each_tier_is_tried_twice_and_two_tiers_may_be_risen() {
    let table = [
        (Some("a"), vec![Next::Again, Next::Again, Next::Again, Next::Again, Next::Again, TIRED], Some("c"), 2),
        (Some("d"), vec![Next::Again, Next::Again, Next::Again, TIRED], Some("e"), 1),
        (Some("e"), vec![Next::Again, TIRED], None, 0),
        (Some("unknown"), vec![Next::Again, TIRED], None, 0),
        (None, vec![Next::Again, TIRED], None, 0),
    ];
    for (tier, wanted, top, rises) in table {
        let (tally, came) = climb(&spec(), tier, &distinct(wanted.len()));
        assert_eq!(came, wanted, "{tier:?}");
        assert_eq!((tally.tier.as_deref(), tally.rises), (top, rises), "{tier:?}");
        assert_eq!(tally.tries as usize, wanted.len());
    }
}

#[test]
fn the_tally_of_each_step() {
    let base = Tally { avoid: texts(&["acme/x"]), ..Tally::default() };
    let lessons = |count: usize| (0..count).map(|number| format!("detail of failure {number}")).collect();
    let last = |number: usize| Some(format!("failure {number}"));
    let b = || Some("b".to_owned());
    let wanted = [
        Tally { tries: 1, reinforced: 1, lessons: lessons(1), last: last(0), ..base.clone() },
        Tally { tries: 2, rises: 1, tier: b(), lessons: lessons(2), last: last(1), ..base.clone() },
        Tally { tries: 3, rises: 1, reinforced: 1, tier: b(), lessons: lessons(3), last: last(2), ..base },
    ];
    for (count, wanted) in (1..).zip(wanted) {
        assert_eq!(climb(&spec(), Some("a"), &distinct(count)).0, wanted);
    }
}

#[test]
fn a_named_model_never_rises() {
    for model in ["acme/x", "auto:fast", "a"] {
        let spec = TaskSpec { model: Some(model.into()), ..spec() };
        let (tally, came) = climb(&spec, Some("a"), &distinct(2));
        assert_eq!(came, [Next::Again, TIRED]);
        assert_eq!((tally.tier, tally.rises), (None, 0));
    }
}

#[test]
fn nothing_rises_where_a_stronger_model_makes_no_difference() {
    let useless = |failure: Failure| Failure { lift: Lift::Useless, ..failure };
    let failures: Vec<Failure> = distinct(2).into_iter().map(useless).collect();
    let (tally, came) = climb(&spec(), Some("a"), &failures);
    assert_eq!(came, [Next::Again, TIRED]);
    assert_eq!((tally.tier, tally.rises), (None, 0));
}

#[test]
fn the_same_failure_twice_parks() {
    let again = || logic("same");
    let limit = || of_class(ErrorClass::RateLimited, FailureMode::Transient);
    let parked = Some(&Next::Block(Cause::Parked));
    assert_eq!(climb(&spec(), Some("a"), &[again(), again()]).1.last(), parked);
    assert_eq!(climb(&spec(), Some("a"), &[logic("other"), again(), again()]).1.last(), parked);
    // A limit in between is no failure of the work, and hides none.
    assert_eq!(climb(&spec(), Some("a"), &[again(), limit(), again()]).1.last(), parked);
    assert_eq!(climb(&spec(), Some("a"), &[again(), logic("other"), again()]).1.last(), Some(&Next::Again));
    let environment = || Failure::environment("no make", "make is missing");
    assert_eq!(climb(&spec(), Some("a"), &[environment(), environment()]).1.last(), parked);
}

#[test]
fn a_task_has_its_own_limit_of_tries() {
    for (most, tries) in [(0, 1), (1, 1), (2, 2), (3, 3)] {
        let spec = TaskSpec { attempts: Some(most), ..spec() };
        let (tally, came) = climb(&spec, Some("a"), &distinct(tries));
        assert_eq!(came.last(), Some(&Next::Fail), "{most}");
        assert!(came.iter().rev().skip(1).all(|next| *next == Next::Again));
        assert_eq!(tally.tries as usize, tries);
    }
    // The ladder may end before.
    let spec = TaskSpec { attempts: Some(100), ..spec() };
    assert_eq!(climb(&spec, Some("a"), &distinct(6)).1.last(), Some(&TIRED));
}

/// Also the failure that ended it is something that was learned.
#[test]
fn the_last_failure_is_a_lesson_too() {
    let spec = TaskSpec { attempts: Some(2), ..spec() };
    let (tally, _) = climb(&spec, Some("a"), &distinct(2));
    assert_eq!(tally.lessons, texts(&["detail of failure 0", "detail of failure 1"]));
    let (tally, _) = climb(&spec, Some("a"), &[logic("same"), logic("same")]);
    assert_eq!(tally.lessons, texts(&["detail of same"]), "the same is not told twice");
}

#[test]
fn only_the_newest_lessons_are_kept() {
    let (tally, _) = climb(&spec(), Some("a"), &distinct(6));
    let wanted: Vec<String> = (2..6).map(|number| format!("detail of failure {number}")).collect();
    assert_eq!(tally.lessons, wanted);
}

#[test]
fn a_retry_keeps_what_was_learned_and_a_reset_forgets_it() {
    let spec = TaskSpec { attempts: Some(3), ..spec() };
    let (tally, _) = climb(&spec, Some("a"), &distinct(3));
    let failed = Task { spec, tally, ..task(State::Failed { detail: "why".into() }) };
    let retried = step(&failed, Event::Retry, &rules(), NOW).unwrap().task;
    let Tally { lessons, tier, avoid, .. } = failed.tally.clone();
    assert_eq!((lessons.len(), tier.as_deref()), (3, Some("b")));
    assert_eq!(retried.tally, Tally { lessons, tier, avoid, tries: 2, ..Tally::default() });
    // It has exactly the one try that was asked for.
    let evaluating = Task { state: State::Evaluating, ..retried };
    let refuse = Event::Refuse { failure: logic("failure 2"), tier: Some("b".into()), model: None, resume: None };
    let after = step(&evaluating, refuse, &rules(), NOW).unwrap().task;
    assert_eq!(after.state, State::Failed { detail: "detail of failure 2".into() });
    let reset = step(&failed, Event::Reset, &rules(), NOW).unwrap().task;
    assert_eq!(reset.tally, Tally { afresh: true, ..Tally::default() });
}

/// What was reset begins from the base until one try has ended, and not for ever.
#[test]
fn a_reset_lasts_until_the_next_work_and_survives_a_retry() {
    let mut now = task(State::Blocked { cause: Cause::Parked, detail: "why".into() });
    let postpone = Event::Postpone { until: NOW, wait: Wait::Budget, detail: "later".into() };
    let lose = Event::Lose { detail: "gone".into() };
    let table = [
        (Event::Reset, true),
        (postpone, true),
        (Event::Retry, true),
        (Event::Claim, true),
        (Event::Start, true),
        (lose, true),
        (Event::Claim, true),
        (Event::Start, true),
        (Event::Worked, false),
        (Event::Refuse { failure: logic("x"), tier: None, model: None, resume: None }, false),
        (Event::Claim, false),
    ];
    for (event, afresh) in table {
        now = step(&now, event.clone(), &rules(), NOW).unwrap().task;
        assert_eq!(now.tally.afresh, afresh, "{event:?}");
    }
}

#[test]
fn a_strategy_says_where_the_next_attempt_goes() {
    let with = |strategy| TaskSpec { strategy: Some(strategy), ..spec() };
    let again = Next::Again;
    // One tier after the other, also when each fails in the same way; on the strongest one as usual.
    let (tally, came) = climb(&with(Strategy::Cascade), Some("a"), &vec![logic("same"); 4]);
    assert_eq!((came, tally.tier.as_deref()), (vec![again.clone(); 4], Some("e")));
    let (_, came) = climb(&with(Strategy::Cascade), None, &distinct(6));
    assert_eq!(came[3..], [again.clone(), again.clone(), TIRED]);
    let useless = Failure { lift: Lift::Useless, ..logic("secret") };
    assert_eq!(climb(&with(Strategy::Cascade), Some("a"), &[useless]).1, [TIRED], "no stronger one may do it either");
    let (tally, came) = climb(&with(Strategy::Direct), Some("a"), &distinct(2));
    assert_eq!((came, tally.tier, tally.avoid), (vec![again.clone(), TIRED], None, Vec::new()));
    assert_eq!(tally.pinned.as_deref(), Some("acme/x"), "the next attempt has the same model");
    let (tally, came) = climb(&with(Strategy::Best), Some("e"), &distinct(2));
    assert_eq!((came, tally.tier), (vec![again, TIRED], None));
    let tiers = texts(&["a", "b", "e"]);
    let first: Vec<Option<&str>> = Strategy::ALL.iter().map(|strategy| strategy.first_tier(&tiers)).collect();
    assert_eq!(first, [None, Some("a"), None, Some("e")]);
}
