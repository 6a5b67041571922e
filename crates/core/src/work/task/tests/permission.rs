//! A task whose agent asks for a permission: who may answer, until when, and what a later attempt knows of it.

use super::*;

fn asking(reply: Option<PermissionReply>) -> State {
    State::Asking { request: request(), until: NOW + HOUR, answer: reply }
}

fn answer(id: &str, reply: PermissionReply) -> Event {
    Event::Answer { request: id.into(), answer: reply, by: "ann".into() }
}

fn proceed(reply: Option<PermissionReply>) -> Event {
    Event::Proceed { request: "per_1".into(), answer: reply }
}

fn after(task: &Task, event: Event, now: i64) -> Task {
    step(task, event, &rules(), now).expect("it is legal").task
}

#[test]
fn a_request_is_announced_once_and_holds_the_task() {
    let asked =
        step(&task(State::Running), Event::Ask { request: request(), until: NOW + HOUR }, &rules(), NOW).unwrap();
    assert_eq!(asked.task.state, asking(None));
    assert_eq!((asked.task.state.phase(), asked.task.state.is_held()), (Phase::Waiting, true));
    let detail = "waits for permission: bash make gate".to_owned();
    assert_eq!(asked.effects, [Effect::Notify { notice: Notice::Permission, detail }]);
    let answered = step(&asked.task, answer("per_1", PermissionReply::Allow), &rules(), NOW).unwrap();
    assert_eq!((answered.effects, answered.resumed), (Vec::new(), Resumed::Same));
    assert_eq!((answered.task.state.phase(), answered.task.state.is_held()), (Phase::Running, true));
    assert_eq!(answered.change.detail, "ann answered allow: bash make gate");
}

#[test]
fn only_the_open_request_is_answered_once_and_in_time() {
    let allow = || answer("per_1", PermissionReply::Allow);
    for (state, event, now, legal) in [
        (asking(None), allow(), NOW, true),
        (asking(None), allow(), NOW + HOUR - 1, true),
        (asking(None), allow(), NOW + HOUR, false),
        (asking(None), answer("per_2", PermissionReply::Allow), NOW, false),
        (asking(Some(PermissionReply::Deny)), allow(), NOW, false),
        (State::Running, allow(), NOW, false),
        (State::Evaluating, allow(), NOW, false),
        (asking(None), proceed(None), NOW + HOUR, true),
        // An answer that came in the last moment is not passed over.
        (asking(Some(PermissionReply::Allow)), proceed(None), NOW + HOUR, false),
        (asking(Some(PermissionReply::Allow)), proceed(Some(PermissionReply::Allow)), NOW, true),
        (asking(None), proceed(Some(PermissionReply::Allow)), NOW, false),
        // The same request twice is one; another one follows it.
        (asking(None), Event::Ask { request: request(), until: NOW + HOUR }, NOW, false),
    ] {
        assert_eq!(step(&task(state.clone()), event.clone(), &rules(), now).is_ok(), legal, "{state:?} {event:?}");
    }
    let other = PermissionRequest { id: "per_2".into(), digest: "d2".into(), ..request() };
    let next = after(&task(asking(None)), Event::Ask { request: other.clone(), until: NOW + HOUR }, NOW);
    assert_eq!(next.state, State::Asking { request: other, until: NOW + HOUR, answer: None });
}

#[test]
fn a_later_attempt_gets_the_answer_that_its_predecessor_could_not_use() {
    let again = |task: &Task, digest: &str| {
        let request = PermissionRequest { id: "per_9".into(), digest: digest.into(), ..request() };
        match after(&Task { state: State::Running, ..task.clone() }, Event::Ask { request, until: NOW + HOUR }, NOW)
            .state
        {
            State::Asking { answer, .. } => answer,
            other => panic!("{other:?}"),
        }
    };
    for reply in PermissionReply::ALL {
        let answered = after(&task(asking(None)), answer("per_1", reply), NOW);
        // The worker died before it could deliver it.
        let lost = after(&answered, Event::Lose { detail: "gone".into() }, NOW);
        assert_eq!(lost.state, State::Queued);
        assert_eq!((again(&lost, "d1"), again(&lost, "d2")), (Some(reply), None));
        // It was delivered.
        let went_on = after(&answered, proceed(Some(reply)), NOW);
        assert_eq!(went_on.state, State::Running);
        assert_eq!(again(&went_on, "d1"), (reply == PermissionReply::Always).then_some(reply));
        assert_eq!(again(&after(&lost, Event::Reset, NOW), "d1"), None);
    }
}

#[test]
fn a_task_that_asks_ends_like_one_that_runs() {
    for (event, state) in [
        (Event::Worked, State::Evaluating),
        (Event::Lose { detail: "gone".into() }, State::Queued),
        (Event::Cancel { by: "bob".into() }, State::Stopping { by: "bob".into(), head: None }),
    ] {
        assert_eq!(after(&task(asking(None)), event, NOW).state, state);
    }
}

#[test]
fn answers_are_the_words_of_the_command() {
    for reply in PermissionReply::ALL {
        assert_eq!(reply.as_str().parse(), Ok(reply));
        assert_eq!(serde_json::to_value(reply).unwrap(), reply.as_str());
    }
    assert!("yes".parse::<PermissionReply>().is_err());
}
