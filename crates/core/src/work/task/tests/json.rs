//! What is written can be read back, also by a later program from an earlier row.

use super::*;
use crate::values::Capability;
use crate::values::Deliver;
use crate::values::Strategy;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::json;
use std::fmt::Debug;

fn round_trip<T: Serialize + DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    let back: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&back, value, "{text}");
}

fn full_spec() -> TaskSpec {
    TaskSpec {
        agent: Agent::Command { command: "make \"all\"\nnow".into() },
        place: Place::Directory,
        model: Some("acme/b".into()),
        tier: Some("b".into()),
        task_type: Some("fix".into()),
        needs: vec![Capability::Vision, Capability::Structured],
        verify: texts(&["cargo test", "true"]),
        allow_paths: texts(&["src/**"]),
        max_cost: Some(Nano(i64::MAX)),
        urgency: Urgency::Critical,
        estimate_seconds: Some(u64::MAX),
        attempts: Some(0),
        labels: texts(&["Grün", ""]),
        deliver: Deliver::Merge,
        gate: Gate::Open,
        verification: Verification::default(),
        diagnoses: Some(id("t001")),
        todo: Some(id("t001.2")),
        strategy: Some(Strategy::Cascade),
        contest: Some(Contest { models: texts(&["acme/a", "acme/b"]) }),
        entry_of: Some(id("t000")),
        deadline: None,
        with_issue: false,
        ..spec()
    }
}

#[test]
fn everything_that_is_kept_can_be_read_back() {
    for state in every_state() {
        round_trip(&state);
        round_trip(&task(state));
    }
    for delivered in [Delivered::Nothing, Delivered::Branch { branch: "b".into(), head: "h".into() }] {
        round_trip(&State::Done { delivered });
    }
    let causes = [
        Cause::Access,
        Cause::Budget,
        Cause::Exhausted,
        Cause::Parked,
        Cause::Repository,
        Cause::Needs,
        Cause::Ambiguous,
        Cause::Trespass,
        Cause::Rejected,
    ];
    for cause in causes {
        round_trip(&State::Blocked { cause, detail: String::new() });
    }
    round_trip(&full_spec());
    round_trip(&spec());
    round_trip(&TaskSpec { agent: Agent::Opencode { agent: Some("gardener".into()) }, ..spec() });
    let failure = Failure { until: Some(i64::MIN), ..of_class(ErrorClass::QuotaExhausted, FailureMode::Resource) };
    round_trip(&failure);
    round_trip(&Effect::Learn { good: false, failure: Some(failure) });
    round_trip(&Effect::Notify { notice: Notice::Parked, detail: String::new() });
    round_trip(&Effect::Mark { done: false });
    round_trip(&Effect::Tidy);
    for kind in [SlotKind::Total, SlotKind::Siblings, SlotKind::Provider] {
        round_trip(&Slot { kind, name: String::new(), limit: u32::MAX });
    }
}

#[test]
fn an_audit_row_can_be_read_back_with_and_without_a_detail() {
    for (detail, route) in [("", None), ("why", Some(serde_json::json!({"reason": "it was named"})))] {
        let change = Change {
            event: "claim".into(),
            from: "queued".into(),
            to: "starting".into(),
            epoch: 1,
            detail: detail.into(),
            route: route.clone(),
        };
        round_trip(&change);
        let written = serde_json::to_value(&change).unwrap();
        assert_eq!(written.get("detail").is_some(), !detail.is_empty());
        assert_eq!(written.get("route"), route.as_ref());
    }
}

#[test]
fn receipts_can_be_read_back_whatever_the_end() {
    let class = ErrorClass::RateLimited;
    let message = "429".to_owned();
    let deadline = Some(crate::experience::Deadline::Whole);
    let ends = [
        End::Answered,
        End::Failed { class, message: message.clone(), deadline: None, until: None },
        End::Failed { class, message: message.clone(), deadline, until: Some(NOW) },
        End::Stopped { why: Stop::Circles },
        End::Stopped { why: Stop::Cancelled },
        End::Exit { exit: Exit::Code(-1) },
        End::Exit { exit: Exit::Signal(9) },
        End::Exit { exit: Exit::Deadline },
        End::NotStarted { message },
    ];
    for end in ends {
        let secrets = vec![Secret { path: "a".into(), line: 1, looks_like: "a key".into() }];
        let checks = vec![check("cargo test", Exit::Code(101))];
        let findings = Findings { end, secrets, checks, base: None, head: None, ..findings() };
        let reasons = texts(&["one"]);
        round_trip(&Receipt::new(id("t007"), 1, NOW, false, reasons, findings));
    }
}

#[test]
fn a_row_of_an_earlier_program_is_enough() {
    let bare: Tally = serde_json::from_value(json!({})).unwrap();
    assert_eq!(bare, Tally::default());
    let partly: Tally = serde_json::from_value(json!({"tries": 2, "lessons": ["x"], "of_later": true})).unwrap();
    assert_eq!(partly, Tally { tries: 2, lessons: texts(&["x"]), ..Tally::default() });
    let stopping: State = serde_json::from_value(json!({"state": "stopping", "by": "ann"})).unwrap();
    assert_eq!(stopping, State::Stopping { by: "ann".into(), head: None });
    let least = json!({
        "description": "mend the fence",
        "repository": "/srv/garden",
        "base": "main",
        "agent": {"kind": "opencode"},
    });
    let read: TaskSpec = serde_json::from_value(least).unwrap();
    assert_eq!(read, TaskSpec { deliver: Deliver::Branch, ..spec() });
}

/// Every field of a tally alone is missing once.
#[test]
fn a_tally_may_lack_any_field() {
    let whole = serde_json::to_value(Tally { tier: Some("b".into()), afresh: true, ..Tally::default() }).unwrap();
    let fields: Vec<String> = whole.as_object().unwrap().keys().cloned().collect();
    assert_eq!(fields.len(), 13);
    for field in fields {
        let mut less = whole.clone();
        less.as_object_mut().unwrap().remove(&field);
        let read: Tally = serde_json::from_value(less).unwrap();
        let back = serde_json::to_value(read).unwrap();
        assert_eq!(back[&field], serde_json::to_value(Tally::default()).unwrap()[&field]);
    }
}

#[test]
fn what_is_no_state_is_refused() {
    for wrong in [
        json!({"state": "deployed"}),
        json!({"state": "waiting", "wait": "limit", "detail": "no moment"}),
        json!({"state": "starting"}),
        json!({"state": "done", "delivered": {"how": "forced"}}),
        json!("queued"),
    ] {
        assert!(serde_json::from_value::<State>(wrong.clone()).is_err(), "{wrong}");
    }
}
