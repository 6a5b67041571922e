//! Experience changes which model is asked: only with proof below the table's tier, never for a hard task below the
//! strongest, and not at all when that is switched off.

use super::{asked_model, only, yard};
use crate::yard::{attempts, in_store, trace};
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    experience::{Evidence, FailureMode, Verdict},
};
use shuntyard_scripted::Step;
use shuntyard_store::{NewOutcome, Store as _};
use std::{
    path::Path,
    time::{SystemTime, UNIX_EPOCH},
};

/// A judged outcome.
pub(super) fn looked_at(task_type: &str, tier: &str, model: &str, verdict: Verdict) -> NewOutcome {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_micros();
    NewOutcome {
        at: i64::try_from(now).expect("a time"),
        attempt: None,
        task: None,
        batch: None,
        task_type: task_type.to_owned(),
        requested: json!({ "task_type": task_type }),
        asked_tier: None,
        tier: Some(tier.to_owned()),
        model: model.to_owned(),
        strategy: String::new(),
        verdict,
        failure_mode: (verdict == Verdict::Failure).then_some(FailureMode::Logic),
        error_class: None,
        evidence: Evidence::Verified,
        quality: None,
        tokens: 0,
        cost: Nano::ZERO,
        cost_known: false,
        duration_ms: 0,
        retries: 0,
        repository: String::new(),
        propensity: None,
        text: String::new(),
    }
}

pub(super) fn enter(outcome: &NewOutcome, times: usize) {
    let outcomes = vec![outcome.clone(); times];
    let new = in_store(&yard().env, async |store| store.record_outcomes(&outcomes).await.expect("recorded"));
    assert_eq!(new, u64::try_from(times).expect("a few"));
}

/// The model for such a task and the reason, which a dispatch and `route` agree on.
#[track_caller]
fn led_to(variables: &[(&str, &str)], task_type: &str, text: &str) -> (String, String, Value) {
    let yard = yard();
    let wanted = ["--task-type", task_type, text];
    let report = yard.env.run_with(variables, &[&["dispatch", "--json"], &wanted[..]].concat()).expect_ok();
    let decided = yard.env.run_with(variables, &[&["route", "--json"], &wanted[..]].concat()).expect_code(0).json();
    let said = |resolution: &Value| trace(resolution, "pattern").join("; ");
    let model = attempts(&report)[0].0.clone();
    assert_eq!(model, asked_model(&report));
    assert_eq!(decided["ref"], model, "a question is told the same\n{decided:#}");
    let kept = only(&yard.env, &report);
    assert_eq!((kept.model.as_str(), kept.task_type.as_str()), (model.as_str(), task_type));
    // The dispatch in between was recorded as well, so numbers may differ; whether experience decided does not.
    assert_eq!(said(&decided).is_empty(), said(&report["route"]).is_empty());
    (model, said(&report["route"]), report)
}

#[test]
fn a_cheaper_tier_that_has_proved_itself_is_asked_and_the_reason_is_told() {
    let off = [("SHUNTYARD_PATTERNS_CHOOSE", "false")];
    let (model, said, _) = led_to(&[], "sorting", "Sort these names");
    assert_eq!((model.as_str(), said.as_str()), ("middle/m", ": no experience with such tasks yet"));
    let proof = looked_at("sorting", "haiku", "low/m", Verdict::Success);
    enter(&proof, 2);
    let (model, said, _) = led_to(&[], "sorting", "Sort these names");
    assert_eq!(model, "middle/m");
    assert!(said.contains("haiku did 2 of 2 such tasks well") && said.contains("it takes 3 samples"), "{said}");
    enter(&proof, 1);
    let (model, said, report) = led_to(&[], "sorting", "Sort these names");
    assert_eq!(model, "low/m");
    let reason = "by experience: haiku did 3 of 3 such tasks well (100 %, at least ";
    assert!(said.starts_with(&format!(": {reason}")), "{said}");
    let route = &report["route"];
    assert_eq!((&route["rule"], &route["tier"]), (&json!("task_type"), &json!("haiku")), "{route:#}");
    let why = route["reason"].as_str().unwrap_or_default();
    assert!(why.starts_with(&format!("task type sorting goes to tier sonnet, but {reason}")), "{why}");
    // A named tier or model wins.
    for flags in [["--tier", "sonnet"], ["-m", "middle/m"]] {
        let report = yard().dispatch(&[&flags[..], &["Sort these names"]].concat()).expect_ok();
        assert_eq!(asked_model(&report), "middle/m", "{flags:?}");
    }
    assert_eq!(led_to(&off, "sorting", "Sort these names").0, "middle/m");
    // It fails from now on, and that is recorded: the table's tier has the better record.
    enter(&looked_at("sorting", "haiku", "low/m", Verdict::Failure), 4);
    assert_eq!(led_to(&[], "sorting", "Sort these names").0, "middle/m");
}

#[test]
fn answers_that_nobody_has_judged_lead_nowhere_below_the_table() {
    let yard = yard();
    let mut cheap = Vec::new();
    for _ in 0..3 {
        let report = yard.dispatch(&["-m", "low/m", "--task-type", "weighing", "Weigh this"]).expect_ok();
        cheap.push(only(&yard.env, &report).attempt.expect("an attempt"));
    }
    let (model, said, _) = led_to(&[], "weighing", "Weigh this");
    assert_eq!(model, "middle/m");
    assert!(said.contains("not followed: nobody has looked at 3 of its answers"), "{said}");
    let recommend = || yard.env.run(&["patterns", "recommend", "--json", "weighing"]);
    // It qualifies, and `recommend` shows that routing does not follow yet.
    let told = recommend().expect_code(0).json();
    let words = ["recommends", "tier", "followed", "routed_tier"].map(|name| &told[name]);
    assert_eq!(json!(words), json!(["tier", "haiku", false, "sonnet"]), "{told:#}");
    let people = yard.env.run(&["patterns", "recommend", "weighing"]);
    let line = "routing: does not follow and goes to tier sonnet: nobody has looked at 3 of its answers";
    assert!(people.expect_code(0).stdout.contains(line), "{}", people.stdout);
    // The same answers, judged: now there is proof.
    for (dispatch, _) in cheap {
        let judged = ["patterns", "record", "--json", "--dispatch", &dispatch.to_string(), "--outcome", "success"];
        assert_eq!(yard.env.run(&judged).expect_code(0).json()["outcome"]["evidence"], "reported");
    }
    let told = recommend().expect_code(0).json();
    assert_eq!((&told["tier"], &told["followed"]), (&json!("haiku"), &json!(true)), "{told:#}");
    let (model, said, _) = led_to(&[], "weighing", "Weigh this");
    assert_eq!(model, "low/m");
    assert!(said.contains("haiku did 3 of 3 such tasks well"), "{said}");
}

#[test]
fn a_tier_that_keeps_failing_makes_way_for_the_next_stronger_one() {
    let yard = yard();
    for _ in 0..3 {
        let key = yard.at("middle").script("struggles", vec![Step::empty()]);
        let failed = yard.dispatch(&["-m", "middle/m", "--task-type", "struggling", &key]);
        failed.expect_code(1).expect_class("empty_response");
    }
    let (model, said, _) = led_to(&[], "struggling", "Try this");
    assert_eq!(model, "high/m");
    assert!(said.contains("sonnet did 0 of 3 such tasks well"), "{said}");
}

#[test]
fn a_hard_task_of_the_strongest_tier_stays_there() {
    enter(&looked_at("deciphering", "sonnet", "middle/m", Verdict::Success), 6);
    let (model, said, _) = led_to(&[], "deciphering", "Decipher this rune");
    assert_eq!(model, "middle/m");
    assert!(said.contains("sonnet did 6 of 6 such tasks well"), "{said}");
    let (model, said, _) = led_to(&[], "deciphering", "Decipher why there is a race condition in this rune");
    assert_eq!(model, "high/m");
    assert!(said.contains("but the task looks hard (") && said.contains("race condition"), "{said}");
}

#[test]
fn a_repository_with_experience_of_its_own_goes_by_that() {
    let yard = yard();
    let own = yard.env.repository("experienced");
    let failed = looked_at("belonging", "haiku", "low/m", Verdict::Failure);
    enter(&looked_at("belonging", "haiku", "low/m", Verdict::Success), 60);
    let led = |directory: &Path| {
        let directory = directory.to_string_lossy();
        let args = ["route", "--json", "--task-type", "belonging", "--dir", &directory, "Whose is this?"];
        let decided = yard.env.run(&args).expect_code(0).json();
        (decided["ref"].clone(), trace(&decided, "pattern").join("; "))
    };
    for more in [9, 1] {
        assert_eq!(led(&own).0, "low/m", "before {more} more");
        enter(&NewOutcome { repository: own.to_string_lossy().into_owned(), ..failed.clone() }, more);
    }
    let (model, said) = led(&own);
    assert_eq!(model, "middle/m");
    assert!(said.starts_with(": by experience in this repository: haiku did 0 of 10"), "{said}");
    assert_eq!(led(&yard.env.project()).0, "low/m", "elsewhere all counts");
}
