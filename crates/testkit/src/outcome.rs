//! What a command printed and how it ended.

use serde_json::Value;
use shuntyard_core::{Nano, Usage};
use shuntyard_scripted::Ledger;

#[derive(Debug)]
pub struct Outcome {
    /// `None` when a signal ended it.
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Outcome {
    /// The one JSON document on standard output.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("no JSON ({error})\nstdout: {}\nstderr: {}", self.stdout, self.stderr))
    }

    #[track_caller]
    pub fn expect_code(&self, code: i32) -> &Self {
        assert_eq!(self.code, Some(code), "exit code\nstdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// A failed dispatch or a refusal of this class.
    #[track_caller]
    pub fn expect_class(&self, class: &str) -> &Self {
        let json = self.json();
        assert_eq!(json["error"]["class"], class, "{json:#}");
        assert!(json["error"]["hint"].as_str().is_some_and(|hint| !hint.is_empty()), "a failure has a hint: {json:#}");
        self
    }

    #[track_caller]
    pub fn expect_ok(&self) -> Value {
        let json = self.json();
        assert_eq!(json["status"], "ok", "{json:#}");
        self.expect_code(0);
        json
    }
}

/// The reported money and tokens of a dispatch equal the provider's own ledger, to the nano-dollar. Where they are not
/// known, they are no less.
#[track_caller]
pub fn assert_bill(report: &Value, ledger: &Ledger) {
    let total = ledger.total_reported();
    let cost = report["cost_usd"].as_f64().and_then(Nano::from_usd).expect("a cost");
    let usage: Usage = serde_json::from_value(report["usage"].clone()).expect("a usage");
    if report["cost_known"] == false {
        // An estimate is never less than the usage that the provider has reported.
        assert!(cost >= total.cost, "cost\nreport: {report:#}\nledger: {ledger:#?}");
        assert!(usage.total() >= total.usage.total(), "usage\nreport: {report:#}\nledger: {ledger:#?}");
        return;
    }
    assert_eq!(cost, total.cost, "cost\nreport: {report:#}\nledger: {ledger:#?}");
    assert_eq!(usage, total.usage, "usage");
}
