//! An outcome as JSON and as a line of CSV. The content of a cell is untrusted: it stays in its column, and no
//! spreadsheet takes it for a formula.

use super::show;
use crate::cli::csv;
use jiff::Timestamp;
use serde_json::{Value, json};
use shuntyard_core::{Nano, values::clean};
use shuntyard_store::OutcomeRecord;

const COLUMNS: [&str; 26] = [
    "id",
    "at",
    "at_ms",
    "dispatch",
    "attempt",
    "task",
    "batch",
    "task_type",
    "requested",
    "asked_tier",
    "tier",
    "model",
    "strategy",
    "outcome",
    "counts",
    "failure_mode",
    "error_class",
    "evidence",
    "quality",
    "tokens",
    "cost_usd",
    "duration_ms",
    "retries",
    "repository",
    "propensity",
    "text",
];

pub fn document(record: &OutcomeRecord) -> Value {
    let outcome = &record.outcome;
    // A partial cost is printed; zero with an unknown cost is null.
    let cost = Some(outcome.cost).filter(|cost| outcome.cost_known || *cost != Nano::ZERO);
    json!({
        "id": record.id,
        "at": Timestamp::from_microsecond(outcome.at).unwrap_or_default().to_string(),
        "at_ms": outcome.at / 1000,
        "dispatch": outcome.attempt.map(|(dispatch, _)| dispatch.to_string()),
        "attempt": outcome.attempt.map(|(_, ordinal)| ordinal),
        "task": outcome.task,
        "batch": outcome.batch,
        "task_type": outcome.task_type,
        "requested": outcome.requested,
        "asked_tier": outcome.asked_tier,
        "tier": outcome.tier,
        "model": outcome.model,
        "strategy": outcome.strategy,
        "outcome": show::verdict(outcome.verdict),
        "counts": outcome.counts(),
        "failure_mode": outcome.failure_mode,
        "error_class": outcome.error_class.map(shuntyard_core::ErrorClass::as_str),
        "evidence": outcome.evidence,
        "quality": outcome.quality,
        "tokens": outcome.tokens,
        "cost_usd": cost.map(Nano::as_usd),
        "cost_nano": cost,
        "cost_known": outcome.cost_known,
        "duration_ms": outcome.duration_ms,
        "retries": outcome.retries,
        "repository": outcome.repository,
        "propensity": outcome.propensity,
        "text": outcome.text,
    })
}

pub fn csv_head() -> String {
    COLUMNS.join(",")
}

pub fn csv_line(record: &OutcomeRecord) -> String {
    let document = document(record);
    let cells = COLUMNS.map(|column| match (&document[column], column) {
        (Value::Null, _) => String::new(),
        (Value::String(text), _) => cell(text),
        (Value::Number(_), "cost_usd") => csv::dollars(record.outcome.cost),
        (value @ (Value::Bool(_) | Value::Number(_)), _) => value.to_string(),
        (value @ (Value::Array(_) | Value::Object(_)), _) => cell(&value.to_string()),
    });
    cells.join(",")
}

/// A text without what a terminal would obey.
fn cell(text: &str) -> String {
    csv::cell(&clean(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_stays_in_its_column_and_is_no_formula() {
        let table = [
            ("plain text", "plain text"),
            ("a,b", "\"a,b\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("two\r\nlines", "\"two\nlines\""),
            ("=1+2", "\"'=1+2\""),
            ("+1", "\"'+1\""),
            ("-1", "\"'-1\""),
            ("@sum(a1)", "\"'@sum(a1)\""),
            ("\tx", "\"'\tx\""),
            ("\u{200b}=1", "\"'=1\""),
            ("＝1", "\"'＝1\""),
            ("=cmd|' /C calc'!A0,\"x\"", "\"'=cmd|' /C calc'!A0,\"\"x\"\"\""),
            ("a=b", "a=b"),
            ("\u{1b}[31m", "\u{fffd}[31m"),
            ("nul\0", "nul\u{fffd}"),
        ];
        for (text, expected) in table {
            assert_eq!(cell(text), expected, "{text:?}");
        }
    }
}
