//! What dispatches teach: each leaves its outcomes behind, and they lead the ones that follow.

mod explored;
mod failed;
mod learned;
mod recorded;
mod replayed;
mod tasks;

use crate::{
    NO_MEMORY,
    yard::{Key, Yard, in_store, model, plain, with_models},
};
use serde_json::{Value, json};
use std::sync::OnceLock;
use switchyard_store::{NewOutcome, OutcomeFilter, OutcomeOrder, Store as _};
use switchyard_testkit::TestEnv;

const SCHEMA: &str = r#"{"type":"object","properties":{"score":{"type":"number"}},"required":["score"]}"#;

/// Each test has kinds of tasks of its own, because what one learns of a kind leads all.
const TABLES: &str = r#"
tier_order = ["haiku", "sonnet", "opus"]
[tiers]
haiku = ["low/m"]
sonnet = ["middle/m"]
opus = ["high/m"]
shaky = ["barred/m", "spare/m"]
[task_types]
proofreading = "sonnet"
remembering = "haiku"
failing = "haiku"
climbing = "haiku"
shaking = "shaky"
wandering = "haiku"
sorting = "sonnet"
weighing = "sonnet"
struggling = "sonnet"
deciphering = "opus"
belonging = "sonnet"
"#;

fn yard() -> &'static Yard {
    static YARD: OnceLock<Yard> = OnceLock::new();
    YARD.get_or_init(|| {
        let names = ["low", "middle", "high", "spare", "mortal"];
        let mut providers: Vec<_> = names.map(|id| plain(id, Key::Config)).into();
        providers.push(plain("barred", Key::Wrong));
        let unpriced = model("m", &json!({"cost": {"input": 0, "output": 0}}));
        providers.push(with_models("unpriced", Key::Config, &[unpriced]));
        // One test's failing provider must not keep the others away from it.
        let yard = Yard::new("patterns", providers, &json!({"model": "low/m"}), &format!("{TABLES}{NO_MEMORY}"));
        // The first look at a directory takes seconds, which a short timer would blame on a model.
        yard.dispatch(&["-m", "high/m", "warm up"]).expect_ok();
        yard
    })
}

/// The model that a report says has answered.
fn asked_model(report: &Value) -> String {
    let text = |key: &str| report["model"][key].as_str().unwrap_or_default().to_owned();
    format!("{}/{}", text("provider"), text("model"))
}

/// All outcomes that are kept, the oldest first.
fn all(env: &TestEnv) -> Vec<NewOutcome> {
    let filter = OutcomeFilter { limit: 100_000, ..OutcomeFilter::default() };
    let records =
        in_store(env, async |store| store.outcomes(&filter, OutcomeOrder::Oldest).await.expect("the outcomes"));
    records.into_iter().map(|record| record.outcome).collect()
}

/// The outcomes of a dispatch, in the order of its attempts.
fn of_dispatch(env: &TestEnv, id: &str) -> Vec<NewOutcome> {
    let is_ours = |outcome: &NewOutcome| outcome.attempt.is_some_and(|(dispatch, _)| dispatch.to_string() == id);
    let mut ours: Vec<NewOutcome> = all(env).into_iter().filter(is_ours).collect();
    ours.sort_by_key(|outcome| outcome.attempt.map(|(_, ordinal)| ordinal));
    ours
}

/// The outcomes that a report is about.
#[track_caller]
fn of_report(env: &TestEnv, report: &Value) -> Vec<NewOutcome> {
    of_dispatch(env, report["id"].as_str().expect("an id"))
}

/// The one outcome of a dispatch that asked one model.
#[track_caller]
pub fn only(env: &TestEnv, report: &Value) -> NewOutcome {
    let mut found = of_report(env, report);
    assert_eq!(found.len(), 1, "{found:#?}\n{report:#}");
    found.remove(0)
}
