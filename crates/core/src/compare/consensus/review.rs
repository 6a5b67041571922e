//! What one reviewer may answer, and what it means.

use crate::values::Severity;
use crate::{
    compare::{
        Fault,
        reading::{Faults, Reading},
    },
    values::clean_line,
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const MOST_FINDINGS: usize = 50;
const MOST_TEXT: usize = 2000;
const MOST_PATH: usize = 400;
const LAST_LINE: u32 = 10_000_000;

const SEVERITIES: [(&str, Severity); 4] = [
    ("critical", Severity::Critical),
    ("major", Severity::Major),
    ("minor", Severity::Minor),
    ("info", Severity::Info),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Opinion {
    Approve,
    Reject,
    Unsure,
}

const OPINIONS: [(&str, Opinion); 3] =
    [("approve", Opinion::Approve), ("reject", Opinion::Reject), ("unsure", Opinion::Unsure)];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    pub severity: Severity,
    /// `None` when it is about the whole.
    pub file: Option<String>,
    /// From 1; `None` when it is about the whole file.
    pub line: Option<u32>,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Review {
    pub verdict: Opinion,
    pub findings: Vec<Finding>,
    /// From 0 to 1.
    pub confidence: f64,
}

/// The form of a review. Every member is required, because some providers accept no other schemas.
#[must_use]
pub fn schema() -> Value {
    let words = |list: &[&str]| json!({"type": "string", "enum": list});
    json!({
        "type": "object",
        "properties": {
            "verdict": words(&OPINIONS.map(|(word, _)| word)),
            "findings": {
                "type": "array",
                "maxItems": MOST_FINDINGS,
                "items": {
                    "type": "object",
                    "properties": {
                        "severity": words(&SEVERITIES.map(|(word, _)| word)),
                        "file": {"type": ["string", "null"], "description": "null when it is about no single file"},
                        "line": {
                            "type": ["integer", "null"],
                            "minimum": 0,
                            "maximum": LAST_LINE,
                            "description": "null when it is about no single line",
                        },
                        "text": {"type": "string", "description": "what is wrong, and why"},
                    },
                    "required": ["severity", "file", "line", "text"],
                    "additionalProperties": false,
                },
            },
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["verdict", "findings", "confidence"],
        "additionalProperties": false,
    })
}

/// Reads a review. One fault makes the whole review invalid: what a reviewer meant besides cannot be known, and half
/// a review would count as a whole one.
pub fn parse(value: &Value) -> Result<Review, Vec<Fault>> {
    let mut faults = Faults::default();
    let root = Reading::root(value);
    let verdict = root.field("verdict", &mut faults).and_then(|field| field.word(&OPINIONS, &mut faults));
    let confidence = root.field("confidence", &mut faults).and_then(|field| field.number(1, &mut faults));
    let items = root.field("findings", &mut faults).and_then(|field| field.items(MOST_FINDINGS, &mut faults));
    let findings = items.map(|items| items.iter().filter_map(|item| finding(item, &mut faults)).collect());
    let whole = (|| Some(Review { verdict: verdict?, findings: findings?, confidence: confidence? }))();
    faults.judge(whole)
}

fn finding(item: &Reading<'_>, faults: &mut Faults) -> Option<Finding> {
    let severity = item.field("severity", faults)?.word(&SEVERITIES, faults)?;
    let file = match item.optional("file") {
        Some(field) => Some(clean_line(&field.any_text(MOST_PATH, faults)?, MOST_PATH)),
        None => None,
    };
    let file = file.filter(|file| !file.is_empty());
    // Many models write line 0 for "the whole file". A line without a file has no meaning.
    let line = match item.optional("line") {
        Some(field) => Some(field.whole(LAST_LINE, faults)?).filter(|line| *line > 0 && file.is_some()),
        None => None,
    };
    let text = item.field("text", faults)?.text(MOST_TEXT, faults)?;
    Some(Finding { severity, file, line, text })
}
