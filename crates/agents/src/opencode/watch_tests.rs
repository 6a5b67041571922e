use super::*;
use crate::opencode::give_up::PermissionPolicy;

const SECOND: Duration = Duration::from_secs(1);

fn limits(began: Instant) -> RunLimits {
    RunLimits {
        first_token: Some(10 * SECOND),
        inactivity: Some(5 * SECOND),
        total: Some(60 * SECOND),
        began,
        retry_wait_cap: Some(10 * SECOND),
        provider_retries: 1,
        steps: Some(StepLimit::Work(2)),
        max_cost: None,
        permission: PermissionPolicy::Reject,
    }
}

fn watch(now: Instant) -> Watch {
    Watch::new("ses_root", "msg_prompt", limits(now), now)
}

fn part(kind: &str, id: &str, message: &str, status: Option<&str>) -> Part {
    let state = status.map(|status| serde_json::json!({ "status": status, "title": "t" }));
    serde_json::from_value(serde_json::json!({
        "id": id, "messageID": message, "type": kind, "tool": "bash", "state": state
    }))
    .unwrap()
}

fn shown(session: &str, part: Part) -> ServerEvent {
    ServerEvent::Part { session: session.into(), part }
}

fn retry(session: &str, attempt: u32, message: &str, next: f64) -> ServerEvent {
    ServerEvent::Status { session: session.into(), status: RunStatus::Retry { attempt, message: message.into(), next } }
}

fn timer(watch: &Watch) -> Option<(Instant, Timer)> {
    watch.next_deadline().map(|(at, reason)| match reason {
        GiveUp::Timeout { timer, .. } => (at, timer),
        other => panic!("{other:?}"),
    })
}

#[test]
fn patience_depends_on_what_was_seen() {
    let now = Instant::now();
    let mut watch = watch(now);
    assert_eq!(timer(&watch), Some((now + 10 * SECOND, Timer::FirstToken)));

    // Our own prompt coming back is no sign of an answer.
    watch.on_event(&shown("ses_root", part("text", "p0", "msg_prompt", None)), now + SECOND, 0);
    assert_eq!(timer(&watch), Some((now + 10 * SECOND, Timer::FirstToken)));

    watch.on_event(&shown("ses_root", part("text", "p1", "msg_a", None)), now + 2 * SECOND, 0);
    assert_eq!(timer(&watch), Some((now + 7 * SECOND, Timer::Inactivity)));

    // While a tool runs, silence is normal for longer; when it is done, no more.
    watch.on_event(&shown("ses_root", part("tool", "p2", "msg_a", Some("running"))), now + 3 * SECOND, 0);
    assert_eq!(timer(&watch), Some((now + 28 * SECOND, Timer::Inactivity)));
    watch.on_event(&shown("ses_root", part("tool", "p2", "msg_a", Some("completed"))), now + 4 * SECOND, 0);
    assert_eq!(timer(&watch), Some((now + 9 * SECOND, Timer::Inactivity)));

    watch.on_event(&shown("ses_root", part("text", "p3", "msg_a", None)), now + 58 * SECOND, 0);
    assert_eq!(timer(&watch), Some((now + 60 * SECOND, Timer::Total)));
}

#[test]
fn no_timers_means_no_deadline() {
    let now = Instant::now();
    let none = RunLimits { first_token: None, inactivity: None, total: None, ..limits(now) };
    assert_eq!(Watch::new("s", "m", none, now).next_deadline(), None);
}

#[test]
fn no_timer_runs_while_a_person_decides() {
    let now = Instant::now();
    let mut watch = watch(now);
    watch.on_event(&shown("ses_root", part("text", "p1", "msg_a", None)), now + SECOND, 0);
    watch.pause(now + 2 * SECOND);
    watch.pause(now + 3 * SECOND);
    assert_eq!(timer(&watch), None);
    watch.resume(now + 3602 * SECOND);
    watch.resume(now + 3603 * SECOND);
    assert_eq!(timer(&watch), Some((now + 3607 * SECOND, Timer::Inactivity)));
    // Of the sixty seconds two were used before.
    watch.on_event(&shown("ses_root", part("text", "p1", "msg_a", None)), now + 3659 * SECOND, 0);
    assert_eq!(timer(&watch), Some((now + 3660 * SECOND, Timer::Total)));
}

#[test]
fn a_child_is_watched_and_a_stranger_is_not() {
    let now = Instant::now();
    let mut watch = watch(now);
    let created = |session: &str, parent: Option<&str>| ServerEvent::SessionCreated {
        session: session.into(),
        parent: parent.map(Into::into),
    };
    watch.on_event(&created("ses_child", Some("ses_root")), now, 0);
    watch.on_event(&created("ses_grandchild", Some("ses_child")), now, 0);
    watch.on_event(&created("ses_stranger", None), now, 0);
    assert_eq!(watch.sessions(), ["ses_root", "ses_child", "ses_grandchild"]);

    let asked = |session: &str| {
        ServerEvent::PermissionAsked(Pending {
            id: "per_1".into(),
            session: session.into(),
            permission: "edit".into(),
            patterns: vec![],
        })
    };
    assert_eq!(watch.on_event(&asked("ses_grandchild"), now, 0).len(), 1);
    assert_eq!(watch.on_event(&asked("ses_stranger"), now, 0), []);
    // A child's activity keeps the run alive, but its end is not the run's end.
    watch.on_event(&shown("ses_child", part("text", "p", "m", None)), now + SECOND, 0);
    assert_eq!(timer(&watch), Some((now + 6 * SECOND, Timer::Inactivity)));
    assert_eq!(watch.on_event(&ServerEvent::Idle { session: "ses_child".into() }, now, 0), []);
    assert_eq!(watch.on_event(&ServerEvent::Idle { session: "ses_root".into() }, now, 0), [Action::LookBack]);
}

#[test]
fn a_providers_retry_is_waited_for_only_when_it_can_help() {
    let now = Instant::now();
    let unix = 1_000_000;
    let next = |seconds: i64| (unix + seconds * 1000) as f64;
    // (attempt, message, seconds to wait, waited for)
    let table = [
        (1, "scripted error 429", 2, true),
        (1, "scripted error 500", 10, true),
        (2, "scripted error 500", 4, false),
        (1, "scripted error 429", 11, false),
        (1, "scripted error 429", 3600, false),
        (1, "monthly usage limit reached", 1, false),
    ];
    for (attempt, message, seconds, patient) in table {
        let actions = watch(now).on_event(&retry("ses_root", attempt, message, next(seconds)), now, unix);
        assert_eq!(actions.is_empty(), patient, "{attempt} {message} {seconds}: {actions:?}");
    }
    // The wait may not reach past the run's own end.
    let actions = watch(now).on_event(&retry("ses_root", 1, "scripted error 429", next(9)), now + 55 * SECOND, unix);
    assert_eq!(actions.len(), 1);
}

#[test]
fn steps_are_counted_once_each() {
    let now = Instant::now();
    let mut watch = watch(now);
    for id in ["s1", "s1", "s2"] {
        assert_eq!(watch.on_event(&shown("ses_root", part("step-start", id, "m", None)), now, 0), []);
    }
    let over = watch.on_event(&shown("ses_root", part("step-start", "s3", "m", None)), now, 0);
    assert_eq!(over, [Action::GiveUp(GiveUp::StepLimit(2))]);
}

#[test]
fn only_the_roots_answer_text_is_shown() {
    let now = Instant::now();
    let mut watch = watch(now);
    let delta = |session: &str, part: &str, text: &str| ServerEvent::Delta {
        session: session.into(),
        message: "msg_a".into(),
        part: part.into(),
        field: "text".into(),
        delta: text.into(),
    };
    watch.on_event(&shown("ses_root", part("text", "t1", "msg_a", None)), now, 0);
    watch.on_event(&shown("ses_root", part("reasoning", "r1", "msg_a", None)), now, 0);
    watch.on_event(&shown("ses_root", part("text", "t2", "msg_a", None)), now, 0);
    assert_eq!(watch.on_event(&delta("ses_root", "t1", "a"), now, 0), [Action::ShowText("a".into())]);
    assert_eq!(watch.on_event(&delta("ses_root", "r1", "thinking"), now, 0), []);
    assert_eq!(watch.on_event(&delta("ses_other", "t1", "x"), now, 0), []);
    assert_eq!(watch.on_event(&delta("ses_root", "t2", "b"), now, 0), [Action::ShowText("\nb".into())]);
}

#[test]
fn a_step_is_not_begun_when_the_money_is_used_up() {
    let now = Instant::now();
    let cost = |id: &str, message: &str, usd: f64| {
        let part = serde_json::json!({ "id": id, "messageID": message, "type": "step-finish", "cost": usd });
        shown("ses_root", serde_json::from_value(part).unwrap())
    };
    let start = |session: &str, id: &str| shown(session, part("step-start", id, "msg_a", None));
    let limits = RunLimits { max_cost: Some(Nano(5_000_000)), steps: None, ..limits(now) };
    let mut watch = Watch::new("ses_root", "msg_prompt", limits, now);
    watch.add_session("ses_child".into());
    assert_eq!(watch.on_event(&start("ses_root", "s1"), now, 0), Vec::new());
    // Reported twice, it was spent once.
    for _ in 0..2 {
        assert_eq!(watch.on_event(&cost("f1", "msg_a", 0.004), now, 0), Vec::new());
    }
    assert_eq!(watch.on_event(&start("ses_root", "s2"), now, 0), Vec::new());
    // The step that passes the limit is paid for, so it may still end by itself.
    assert_eq!(watch.on_event(&cost("f2", "msg_a", 0.001), now, 0), Vec::new());
    let over = GiveUp::CostLimit { spent: Nano(5_000_000), most: Nano(5_000_000) };
    assert_eq!(watch.on_event(&start("ses_child", "s3"), now, 0), vec![Action::GiveUp(over.clone())]);

    // A step that used a tool is followed by another one, which is not waited for; the tool that hands over a
    // structured answer ends the run.
    for (tool, expected) in [("StructuredOutput", vec![]), ("bash", vec![Action::GiveUp(over)])] {
        let mut watch = Watch::new("ses_root", "msg_prompt", limits, now);
        let used = serde_json::json!({ "id": tool, "messageID": "msg_b", "type": "tool", "tool": tool });
        watch.on_event(&shown("ses_root", serde_json::from_value(used).unwrap()), now, 0);
        assert_eq!(watch.on_event(&cost("f3", "msg_b", 0.005), now, 0), expected, "{tool}");
    }
}
