//! Structured answers: checked by us, with retries that are real.

use crate::env;
use serde_json::json;
use shuntyard_scripted::Step;
use shuntyard_testkit::outcome::assert_bill;

const SCHEMA: &str =
    r#"{"type":"object","properties":{"score":{"type":"number"}},"required":["score"],"additionalProperties":false}"#;

#[test]
fn an_answer_that_fits_is_returned() {
    let key = env().provider.script("fits", vec![Step::structured(json!({"score": 4}))]);
    let report = env().dispatch(&["-m", "scripted/alpha", "--schema", SCHEMA, &key]).expect_ok();
    assert_eq!(report["structured"], json!({"score": 4}));
    assert_bill(&report, &env().provider.requests(&key));
    let key = env().provider.script("fits", vec![Step::structured(json!({"score": 5}))]);
    let people = env().run(&["dispatch", "-m", "scripted/alpha", "--schema", SCHEMA, &key]);
    assert!(people.stdout.contains("[structured-json]"), "{}", people.stdout);
    assert!(people.stdout.ends_with("{\n  \"score\": 5\n}\n"), "{}", people.stdout);
}

#[test]
fn a_wrong_type_and_a_plain_text_are_sent_back_to_the_model() {
    let steps = vec![
        Step::structured(json!({"score": "four"})),
        Step::text("I would say four."),
        Step::structured(json!({"score": 4})),
    ];
    let key = env().provider.script("mended", steps);
    let report = env().dispatch(&["-m", "scripted/alpha", "--schema", SCHEMA, &key]).expect_ok();
    assert_eq!(report["structured"], json!({"score": 4}));
    let ledger = env().provider.requests(&key);
    assert_eq!(ledger.entries.len(), 3);
    assert!(ledger.entries[1].last_user_text.contains("but got string"), "{}", ledger.entries[1].last_user_text);
    assert_eq!(report["warnings"].as_array().map(Vec::len), Some(2), "{report:#}");
    assert_bill(&report, &ledger);
}

#[test]
fn an_answer_that_never_fits_is_a_failure_with_the_fault() {
    let wrong = || Step::structured(json!({"score": "four"}));
    let key = env().provider.script("never", vec![wrong(), wrong(), wrong(), wrong()]);
    let outcome = env().dispatch(&["-m", "scripted/alpha", "--schema", SCHEMA, &key]);
    outcome.expect_code(1).expect_class("structured_output_failed");
    let report = outcome.json();
    assert!(report["error"]["message"].as_str().is_some_and(|m| m.contains("after 3 tries")), "{report:#}");
    let ledger = env().provider.requests(&key);
    assert_eq!(ledger.entries.len(), 3, "two retries and no more");
    assert_bill(&report, &ledger);
}
