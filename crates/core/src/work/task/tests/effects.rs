//! Who is notified of what: once, and only of what matters.

use super::*;
use crate::values::Diagnose;
use crate::values::Rules;

fn notices(step: &Step) -> Vec<Notice> {
    let of = |effect: &Effect| match effect {
        Effect::Notify { notice, .. } => Some(*notice),
        Effect::Learn { .. }
        | Effect::Mark { .. }
        | Effect::Tidy
        | Effect::RebaseSiblings
        | Effect::Diagnose
        | Effect::WakeContest
        | Effect::CancelEntries => None,
    };
    step.effects.iter().filter_map(of).collect()
}

#[test]
fn a_rest_is_told_when_it_is_long_and_not_just_trouble() {
    let table = [
        (30 * MINUTE, Wait::Limit, true),
        (30 * MINUTE, Wait::Budget, true),
        (30 * MINUTE - 1, Wait::Limit, false),
        (30 * MINUTE - 1, Wait::Budget, false),
        (24 * HOUR, Wait::Trouble, false),
        (-HOUR, Wait::Limit, false),
        (i64::MAX - NOW, Wait::Limit, true),
        (i64::MIN / 2, Wait::Limit, false),
    ];
    for (rest, wait, told) in table {
        let event = Event::Postpone { until: NOW + rest, wait, detail: "later".into() };
        let step = step(&task(State::Queued), event, &rules(), NOW).unwrap();
        let wanted = if told { vec![Notice::Parked] } else { Vec::new() };
        assert_eq!(notices(&step), wanted, "{rest} {wait:?}");
    }
}

#[test]
fn a_review_is_told_once_and_not_at_every_look() {
    let propose = || Event::Propose { url: "u".into(), head: "def".into(), until: NOW, assessed: Assessed::No };
    let opened = step(&task(State::Delivering { head: "abc".into() }), propose(), &rules(), NOW).unwrap();
    assert_eq!(notices(&opened), [Notice::Review]);
    let looked = step(&opened.task, propose(), &rules(), NOW + HOUR).unwrap();
    assert_eq!(notices(&looked), []);
}

#[test]
fn a_todo_is_marked_when_its_task_is_settled_and_done_only_when_it_is() {
    let block = || Event::Block { cause: Cause::Access, detail: "no key".into() };
    let pull = || Event::Deliver { delivered: Delivered::PullRequest { url: "u".into(), head: "def".into() } };
    let propose = || Event::Propose { url: "u".into(), head: "def".into(), until: NOW, assessed: Assessed::No };
    let delivering = || State::Delivering { head: "abc".into() };
    let table = [
        (State::Queued, block(), Some(false)),
        (State::Queued, Event::Cancel { by: "ann".into() }, Some(false)),
        (delivering(), pull(), Some(true)),
        (State::Stopping { by: "ann".into(), head: Some("abc".into()) }, pull(), Some(true)),
        (State::Stopping { by: "ann".into(), head: None }, Event::Stopped, Some(false)),
        // It still goes on by itself.
        (delivering(), propose(), None),
        (State::Queued, Event::Claim, None),
        (State::Running, Event::Worked, None),
        (State::Running, Event::Lose { detail: "gone".into() }, None),
        (State::Queued, Event::Postpone { until: NOW + HOUR, wait: Wait::Limit, detail: "later".into() }, None),
    ];
    for (state, event, wanted) in table {
        for todo in [None, Some(id("t007"))] {
            let mut before = task(state.clone());
            before.spec.todo = todo.clone();
            let step = step(&before, event.clone(), &rules(), NOW).unwrap();
            let marks: Vec<bool> = step
                .effects
                .iter()
                .filter_map(|effect| match effect {
                    Effect::Mark { done } => Some(*done),
                    Effect::Notify { .. }
                    | Effect::Learn { .. }
                    | Effect::Tidy
                    | Effect::RebaseSiblings
                    | Effect::Diagnose
                    | Effect::WakeContest
                    | Effect::CancelEntries => None,
                })
                .collect();
            let wanted: Vec<bool> = todo.and(wanted).into_iter().collect();
            assert_eq!(marks, wanted, "{state:?} {event:?}");
        }
    }
}

#[test]
fn a_task_is_looked_into_once_it_needs_a_person_and_never_what_looks_into_it() {
    let once = Rules { diagnose: Diagnose::Once, ..rules() };
    let looked = |rules: &Rules, before: &Task, cause| {
        let event = Event::Block { cause, detail: "why".into() };
        step(before, event, rules, NOW).unwrap().effects.contains(&Effect::Diagnose)
    };
    let queued = task(State::Queued);
    assert!(looked(&once, &queued, Cause::Parked) && looked(&once, &queued, Cause::Exhausted));
    assert!(!looked(&rules(), &queued, Cause::Parked), "only when it is switched on");
    assert!(!looked(&once, &queued, Cause::Access), "a missing key needs no model to be found");
    let mut looking = task(State::Queued);
    looking.spec.diagnoses = Some(id("t001"));
    assert!(!looked(&once, &looking, Cause::Parked));
}

#[test]
fn what_is_learned_is_what_the_evidence_says() {
    let approve = step(&task(State::Evaluating), Event::Approve { head: "def".into() }, &rules(), NOW).unwrap();
    assert_eq!(approve.effects, [Effect::Learn { good: true, failure: None }]);
    let failure = of_class(ErrorClass::RateLimited, FailureMode::Transient);
    let refuse = Event::Refuse { failure: failure.clone(), tier: None, model: None, resume: None };
    let refused = step(&task(State::Evaluating), refuse, &rules(), NOW).unwrap();
    assert_eq!(refused.effects, [Effect::Learn { good: false, failure: Some(failure) }]);
}

#[test]
fn kinds_and_notices_are_the_words_of_their_json() {
    let all = [
        Notice::Done,
        Notice::Failed,
        Notice::Blocked,
        Notice::Cancelled,
        Notice::Parked,
        Notice::Review,
        Notice::Permission,
    ];
    for notice in all {
        assert_eq!(serde_json::to_value(notice).unwrap(), notice.as_str());
        for effect in [
            Effect::Notify { notice, detail: "d".into() },
            Effect::Learn { good: true, failure: None },
            Effect::Mark { done: true },
            Effect::Tidy,
            Effect::Diagnose,
        ] {
            assert_eq!(serde_json::to_value(&effect).unwrap()["kind"], effect.kind());
        }
    }
}
