//! Outcomes of dispatches: each is recorded, and they lead the dispatches that follow.

mod explored;
mod failed;
mod learned;
mod recorded;
mod replayed;
mod tasks;

use crate::{
    NO_MEMORY,
    outcomes::{all, of_dispatch, of_report, only},
    yard::{Key, Yard, model, plain, with_models},
};
use serde_json::{Value, json};
use std::sync::OnceLock;

const SCHEMA: &str = r#"{"type":"object","properties":{"score":{"type":"number"}},"required":["score"]}"#;

/// Each test has kinds of tasks of its own, because the experience of one test leads all others with that kind.
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
        // The first read of a directory takes seconds, which a short timer would blame on a model.
        yard.dispatch(&["-m", "high/m", "warm up"]).expect_ok();
        yard
    })
}

/// The model that answered according to a report.
fn asked_model(report: &Value) -> String {
    let text = |key: &str| report["model"][key].as_str().unwrap_or_default().to_owned();
    format!("{}/{}", text("provider"), text("model"))
}
