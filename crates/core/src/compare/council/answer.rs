//! What a member may answer in a round, and what it means.

use crate::compare::{
    Fault, Label,
    reading::{Faults, Reading},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

const MOST_POSITION: usize = 500;
const MOST_ANSWER: usize = 20_000;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Answer {
    /// The gist, in a sentence.
    pub position: String,
    pub answer: String,
    /// Whose position of an earlier round it shares.
    pub agree_with: Vec<Label>,
    /// Whether its own position is another one than in the round before.
    pub changed: bool,
    /// From 0 to 1.
    pub confidence: f64,
}

/// The form of an answer of a member that has read the answers of `visible`.
#[must_use]
pub fn schema(visible: &[Label]) -> Value {
    let labels: Vec<String> = visible.iter().map(ToString::to_string).collect();
    // An empty list of words is no valid schema, so without other members only the length is limited.
    let items = if labels.is_empty() { json!({"type": "string"}) } else { json!({"type": "string", "enum": labels}) };
    json!({
        "type": "object",
        "properties": {
            "position": {"type": "string", "description": "your position in one sentence"},
            "answer": {"type": "string", "description": "your whole answer"},
            "agree_with": {"type": "array", "items": items, "maxItems": labels.len()},
            "changed": {"type": "boolean"},
            "confidence": {"type": "number", "minimum": 0, "maximum": 1},
        },
        "required": ["position", "answer", "agree_with", "changed", "confidence"],
        "additionalProperties": false,
    })
}

/// Reads an answer of a member that has read the answers of `visible`; its own label is none of them.
pub fn parse(value: &Value, visible: &[Label]) -> Result<Answer, Vec<Fault>> {
    let mut faults = Faults::default();
    let root = Reading::root(value);
    let position = root.field("position", &mut faults).and_then(|field| field.text(MOST_POSITION, &mut faults));
    let answer = root.field("answer", &mut faults).and_then(|field| field.text(MOST_ANSWER, &mut faults));
    let agree_with = root.field("agree_with", &mut faults).and_then(|field| field.labels(visible, &mut faults));
    let changed = root.field("changed", &mut faults).and_then(|field| field.flag(&mut faults));
    let confidence = root.field("confidence", &mut faults).and_then(|field| field.number(1, &mut faults));
    let whole = (|| {
        Some(Answer {
            position: position?,
            answer: answer?,
            agree_with: agree_with?,
            changed: changed?,
            confidence: confidence?,
        })
    })();
    faults.judge(whole)
}
