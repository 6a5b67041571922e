//! What a judge may answer, and what it means: labels become targets here, and a label that is not there is a fault.

use crate::compare::{
    Fault, Label, Sheet,
    reading::{Faults, Reading},
};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const MOST_REASON: usize = 2000;
const HIGHEST: u32 = 10;

/// One pass of one judge, by targets. Its labels are those of the pass and only `reason` still speaks of them.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    pub best: usize,
    /// The best first; every target once.
    pub ranking: Vec<usize>,
    /// By target, from 0 to 10.
    pub scores: BTreeMap<usize, f64>,
    pub reason: String,
}

/// The form of a verdict on the labels of one pass.
#[must_use]
pub fn schema(sheet: &Sheet) -> Value {
    let labels: Vec<String> = sheet.labels().iter().map(ToString::to_string).collect();
    let score = json!({"type": "number", "minimum": 0, "maximum": HIGHEST});
    let scores: Map<String, Value> = labels.iter().map(|label| (label.clone(), score.clone())).collect();
    json!({
        "type": "object",
        "properties": {
            "ranking": {
                "type": "array",
                "items": {"type": "string", "enum": labels},
                "minItems": labels.len(),
                "maxItems": labels.len(),
                "description": "every label once, the best first",
            },
            "best": {"type": "string", "enum": labels},
            "reason": {"type": "string"},
            "scores": {"type": "object", "properties": scores, "required": labels, "additionalProperties": false},
        },
        "required": ["ranking", "best", "reason", "scores"],
        "additionalProperties": false,
    })
}

pub fn parse(value: &Value, sheet: &Sheet) -> Result<Verdict, Vec<Fault>> {
    let mut faults = Faults::default();
    let root = Reading::root(value);
    let labels = sheet.labels();
    let ranking = root.field("ranking", &mut faults).and_then(|field| field.labels(&labels, &mut faults));
    let best = root.field("best", &mut faults).and_then(|field| field.label(&labels, &mut faults));
    let scores = root.field("scores", &mut faults).and_then(|field| scores(&field, &labels, &mut faults));
    let reason = root.field("reason", &mut faults).and_then(|field| field.text(MOST_REASON, &mut faults));
    if let Some(ranking) = &ranking {
        for label in labels.iter().filter(|label| !ranking.contains(label)) {
            faults.add(Fault::MissingLabel { place: "ranking".to_owned(), label: label.to_string() });
        }
    }
    // Which of two contradicting statements was meant cannot be known, and a guess could make a winner.
    let contradiction = |other: &str| Fault::Contradiction { place: "best".to_owned(), other: format!("the {other}") };
    if let (Some(best), Some(first)) = (best, ranking.as_ref().and_then(|ranking| ranking.first()))
        && best != *first
    {
        faults.add(contradiction("ranking"));
    }
    if let (Some(best), Some(scores)) = (best, &scores)
        && scores.values().any(|score| scores.get(&best).is_some_and(|own| score > own))
    {
        faults.add(contradiction("scores"));
    }
    let whole = (|| {
        let target = |label: Label| sheet.target(label);
        Some(Verdict {
            best: target(best?)?,
            ranking: ranking?.into_iter().map(target).collect::<Option<_>>()?,
            scores: scores?.into_iter().map(|(label, score)| Some((target(label)?, score))).collect::<Option<_>>()?,
            reason: reason?,
        })
    })();
    faults.judge(whole)
}

fn scores(field: &Reading<'_>, labels: &[Label], faults: &mut Faults) -> Option<BTreeMap<Label, f64>> {
    let entries = field.by_label(labels, faults)?;
    entries.into_iter().map(|(label, score)| Some((label, score.number(HIGHEST, faults)?))).collect()
}
