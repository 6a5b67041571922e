//! Work that is good is not done again because of what was in its way.

use super::*;

fn environment() -> Failure {
    Failure::environment("dirty base", "the base is dirty")
}

/// The task after the event, woken and claimed again.
fn claimed_again(before: State, event: Event) -> State {
    let mut after = step(&task(before), event, &rules(), NOW).unwrap().task;
    if let State::Waiting { until, .. } = after.state {
        after = step(&after, Event::Wake, &rules(), until).unwrap().task;
    }
    step(&after, Event::Claim, &rules(), NOW).unwrap().task.state
}

#[test]
fn the_next_claim_goes_on_where_only_the_surroundings_were_wrong() {
    let refuse = |failure: Failure, resume| Event::Refuse { failure, tier: None, model: None, resume };
    let delivering = || State::Delivering { head: "abc".into() };
    let table = [
        (delivering(), Event::Return { failure: environment() }, Stage::Deliver { head: "abc".into() }),
        (delivering(), Event::Return { failure: logic("conflict") }, Stage::Work),
        (State::Evaluating, refuse(environment(), Some(Stage::Evaluate)), Stage::Evaluate),
        (State::Evaluating, refuse(environment(), None), Stage::Work),
        (State::Evaluating, refuse(logic("red"), None), Stage::Work),
    ];
    for (state, event, stage) in table {
        assert_eq!(claimed_again(state, event.clone()), State::Starting { stage }, "{event:?}");
    }
}

#[test]
fn a_person_who_says_retry_goes_on_too_and_reset_begins_again() {
    let event = Event::Return { failure: Failure { mode: FailureMode::Blocked, ..environment() } };
    let blocked = step(&task(State::Delivering { head: "abc".into() }), event, &rules(), NOW).unwrap().task;
    for (word, stage) in [(Event::Retry, Stage::Deliver { head: "abc".into() }), (Event::Reset, Stage::Work)] {
        let queued = step(&blocked, word, &rules(), NOW).unwrap().task;
        let claimed = step(&queued, Event::Claim, &rules(), NOW).unwrap().task;
        assert_eq!((claimed.state, claimed.tally.resume), (State::Starting { stage }, None));
    }
}

#[test]
fn a_command_in_place_is_never_run_twice_unasked() {
    let mut at_work = task(State::Running);
    at_work.spec.place = Place::Directory;
    let lost = step(&at_work, Event::Lose { detail: "its worker died".into() }, &rules(), NOW).unwrap().task;
    assert!(matches!(lost.state, State::Blocked { cause: Cause::Ambiguous, .. }), "{:?}", lost.state);
    // Before it has begun, nothing can have been done.
    let mut starting = task(State::Starting { stage: Stage::Work });
    starting.spec.place = Place::Directory;
    let again = step(&starting, Event::Lose { detail: "its worker died".into() }, &rules(), NOW).unwrap().task;
    assert_eq!(again.state, State::Queued);
}

#[test]
fn a_clock_that_was_set_back_ends_a_wait() {
    let waiting = State::Waiting { until: NOW + HOUR, wait: Wait::Limit, detail: "later".into() };
    let mut before = task(waiting);
    before.changed_at = NOW;
    assert!(step(&before, Event::Wake, &rules(), NOW).is_err());
    let woken = step(&before, Event::Wake, &rules(), NOW - 24 * HOUR).unwrap().task;
    assert_eq!(woken.state, State::Queued);
}
