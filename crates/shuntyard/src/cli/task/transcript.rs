//! `shuntyard task log --transcript`: the steps of a task's agents, attempt by attempt.

use crate::{
    cli::moment::{local, rfc3339},
    ui::{self, Format},
};
use serde_json::{Value, json};
use shuntyard_core::{
    values::{clean, clean_line},
    work::task::TaskId,
};
use shuntyard_engine::{Context, queue::supervise::transcript_file};
use shuntyard_store::RunRecord;

const ROOM: usize = 200;

pub fn show(context: &Context, id: &TaskId, runs: &[RunRecord], format: Format) {
    let attempts: Vec<(&RunRecord, Vec<Value>)> =
        runs.iter().map(|run| (run, steps(context, id, run.epoch))).filter(|(_, steps)| !steps.is_empty()).collect();
    match format {
        Format::Json => {
            let attempt = |(run, steps): &(&RunRecord, Vec<Value>)| {
                let steps: Vec<Value> = steps.iter().map(dated).collect();
                json!({"epoch": run.epoch, "model": super::document::model(run), "steps": steps})
            };
            ui::json(&json!({ "id": id, "transcript": attempts.iter().map(attempt).collect::<Vec<_>>() }));
        }
        Format::People if attempts.is_empty() => ui::note(&format!("no agent has done anything for {id} yet")),
        Format::People => {
            for (run, steps) in &attempts {
                ui::frame(&format!("--- attempt {}: {} ---", run.epoch, super::document::model(run).unwrap_or("?")));
                steps.iter().for_each(|step| ui::result(&line(step)));
            }
        }
    }
}

/// A line that was cut off by a crash is left out.
fn steps(context: &Context, id: &TaskId, epoch: i64) -> Vec<Value> {
    let text = std::fs::read_to_string(transcript_file(context, id, epoch)).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// A step with its time as in all other documents; the file counts microseconds.
fn dated(step: &Value) -> Value {
    let mut step = step.clone();
    step["at"] = step["at"].as_i64().map(rfc3339).into();
    step
}

fn line(step: &Value) -> String {
    let text = |key: &str| step[key].as_str().unwrap_or_default();
    let what = match text("kind") {
        "tool" => {
            let call = if text("title").is_empty() { text("input") } else { text("title") };
            format!("{}: {}", text("tool"), clean_line(call, ROOM))
        }
        "permission" => {
            let answer = if step["allowed"] == true { "allowed" } else { "denied" };
            format!("permission {answer}: {}", clean_line(text("text"), ROOM))
        }
        "model" => format!("{} is asked: {}", text("text"), clean_line(text("why"), ROOM)),
        _ => clean(text("text")).trim().to_owned(),
    };
    format!("{}  {what}", local(step["at"].as_i64().unwrap_or_default()))
}
