//! The doctor's finding on one subject.

use serde_json::Value;

pub fn finding(document: &Value, area: &str, subject: &str) -> Value {
    let findings = document["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| finding["area"] == area && finding["subject"] == subject);
    assert!(found.is_some(), "no finding {area} {subject}: {document:#}");
    found.cloned().unwrap_or_default()
}
