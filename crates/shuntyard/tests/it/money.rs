//! The cost that is reported equals the provider's own ledger, to the nano-dollar.

use crate::env;
use serde_json::json;
use shuntyard_scripted::{Step, Tokens};
use shuntyard_testkit::outcome::assert_bill;

#[test]
fn cached_and_reasoning_tokens_and_fractions_of_a_nano() {
    for model in ["alpha", "odd"] {
        let tokens = Tokens::new(1003, 57).cached(211).reasoning(13);
        let key = env().provider.script("tokens", vec![Step::text("x").usage(tokens)]);
        let report = env().dispatch(&["-m", &format!("scripted/{model}"), &key]).expect_ok();
        assert_bill(&report, &env().provider.requests(&key));
        assert_eq!(report["usage"]["cache_read"], 211);
        assert_eq!(report["usage"]["reasoning"], 13);
        assert_eq!(report["cost_known"], true);
    }
}

#[test]
fn retries_of_the_provider_are_on_the_bill_once() {
    let key = env().provider.script("retried", vec![Step::status(500), Step::text("second time lucky")]);
    let report = env().dispatch(&["-m", "scripted/alpha", &key]).expect_ok();
    let ledger = env().provider.requests(&key);
    assert_eq!(ledger.entries.len(), 2);
    assert_bill(&report, &ledger);
}

#[test]
fn every_step_of_an_agent_counts() {
    let steps = vec![
        Step::tool("bash", json!({"command": "echo one", "description": "say one"})),
        Step::tool("bash", json!({"command": "echo two", "description": "say two"})).usage(Tokens::new(2000, 20)),
        Step::text("both said").usage(Tokens::new(3000, 30).cached(1000)),
    ];
    let key = env().provider.script("steps", steps);
    let report = env().dispatch(&["--mode", "agent", "-m", "scripted/alpha", &key]).expect_ok();
    let ledger = env().provider.requests(&key);
    assert_eq!(ledger.entries.len(), 3);
    assert_bill(&report, &ledger);
}

#[test]
fn a_child_session_is_paid_with_its_parent() {
    // In command mode subtasks are allowed: the model delegates work to a child, which has its own session.
    let key = env().provider.fresh_key("child");
    let delegated =
        json!({"description": "sub", "prompt": format!("the small part {key}"), "subagent_type": "general"});
    let steps = vec![
        Step::tool("task", delegated),
        Step::text("the child's answer").usage(Tokens::new(700, 70)),
        Step::text("all done"),
    ];
    env().provider.script_key(&key, steps);
    let report =
        env().dispatch(&["--mode", "command", "-m", "scripted/alpha", &format!("/delegate {key}")]).expect_ok();
    let ledger = env().provider.requests(&key);
    let sessions: std::collections::BTreeSet<_> = ledger.entries.iter().map(|entry| entry.session.clone()).collect();
    assert_eq!(sessions.len(), 2, "parent and child: {sessions:?}");
    assert_eq!(report["text"], "all done");
    assert_bill(&report, &ledger);
}

#[test]
fn a_model_without_a_price_has_an_unknown_cost() {
    let key = env().provider.script("priceless", vec![Step::text("free?")]);
    let report = env().dispatch(&["-m", "scripted/priceless", &key]).expect_ok();
    assert_eq!(report["cost_known"], false);
    assert_eq!(report["cost_usd"], 0.0);
    assert!(report["warnings"][0].as_str().is_some_and(|warning| warning.contains("no price")), "{report:#}");
}
