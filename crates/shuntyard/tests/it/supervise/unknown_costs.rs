//! Workers that are killed in the middle of an answer: what they spent counts, and the limit of their task holds.

use crate::{supervise::Yard, yard::assert_covered};
use shuntyard_core::Nano;
use shuntyard_scripted::{Step, Tokens};
use shuntyard_testkit::eventually;
use std::time::Duration;

#[test]
fn a_task_whose_workers_are_killed_stays_below_its_limit() {
    let yard = Yard::new("unknown-costs");
    let hangs = || Step::hang_mid_stream().usage(Tokens::new(1000, 500));
    let key = yard.env.provider.script("killed", vec![hangs(), hangs(), hangs(), hangs()]);
    // Two tries fit, each with what it has reserved, and a third does not.
    let id = yard.add(&[&format!("never ends {key}"), "--model", "scripted/alpha", "--max-cost", "0.07"]);
    for kills in 1..=2 {
        yard.pulse_until("the model to be asked", || yard.env.provider.requests(&key).entries.len() >= kills);
        for worker in yard.workers() {
            drop(std::process::Command::new("kill").args(["-9", &worker.to_string()]).output());
        }
        let lost = || yard.task(&id)["attempts"][kills - 1]["outcome"] == "lost";
        yard.pulse_until("the worker to be missed", lost);
    }
    yard.pulse_until("the limit to be met", || yard.task(&id).to_string().contains("max-cost"));
    assert_eq!(yard.env.provider.requests(&key).entries.len(), 2, "{:#}", yard.task(&id));
    let task = yard.task(&id);
    let cost = task["cost_usd"].as_f64().and_then(Nano::from_usd).expect("a cost");
    let counted = yard.env.provider.requests(&key).total().cost;
    assert!(cost >= counted && cost <= Nano(70_000_000), "{counted}: {task:#}");
    assert_eq!(task["cost_known"], false, "{task:#}");
    for run in task["attempts"].as_array().expect("attempts").iter().take(2) {
        assert!(run["cost_usd"].as_f64() > Some(0.0) && run["cost_known"] == false, "{task:#}");
    }
    assert_covered(&yard.env, counted);
    yard.env.run(&["task", "cancel", &id]).expect_code(0);
    eventually("the workers to be gone", Duration::from_secs(20), || yard.leftovers().is_empty());
}
