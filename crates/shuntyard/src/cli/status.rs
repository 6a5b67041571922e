//! `shuntyard status`: the state of all tasks, or of one batch, with a cause for each task that does not move.

use super::{
    Global, batches,
    task::{document::Whole, find},
};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    values::{clean_line, duration},
};
use shuntyard_engine::queue::supervise::{Status, status};
use std::{process::ExitCode, time::Duration};

const ROOM: usize = 100;
/// Failed tasks that are shown to people.
const SHOWN: usize = 50;

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Only this batch
    batch: Option<String>,
}

pub async fn run(global: &Global, args: &StatusArgs) -> Result<ExitCode, Failure> {
    show(global, args.batch.as_deref()).await
}

pub async fn show(global: &Global, batch: Option<&str>) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    if let Some(name) = batch {
        batches::find(&context, name).await?;
    }
    let status = status(&context, batch).await.map_err(Failure::task)?;
    match global.format() {
        Format::Json => {
            let mut attention = Vec::with_capacity(status.needs_attention.len());
            for task in &status.needs_attention {
                let record = find(&context, &task.id).await?;
                attention.push(Whole::of(&context, record).await?.document());
            }
            ui::json(&document(&status, attention, batch));
        }
        Format::People => people(&status),
    }
    Ok(ExitCode::SUCCESS)
}

fn document(status: &Status, needs_attention: Vec<Value>, batch: Option<&str>) -> Value {
    let batches: Vec<Value> = status
        .batches
        .iter()
        .map(|batch| {
            json!({"name": batch.name, "concurrency": batch.concurrency, "paused": batch.paused,
                "counts": batches::counts(&batch.counts)})
        })
        .collect();
    json!({
        "batch": batch,
        "counts": batches::counts(&status.counts),
        "running": status.running,
        "held": status.held,
        "needs_attention": needs_attention,
        "batches": batches,
        "conflicts": status.conflicts,
        "todo": status.todo,
        "supervisor": status.supervisor,
        "totals": status.totals,
        "stalled": status.stalled,
    })
}

fn people(status: &Status) {
    let cost = Nano::from_usd(status.totals.cost_usd).unwrap_or_default();
    ui::result(&format!("{}; {cost} in total", batches::counted(&status.counts)));
    if !status.supervisor.running {
        ui::note("no supervisor runs; `shuntyard supervise` starts what is queued");
    }
    if let Some(stalled) = &status.stalled {
        ui::warn(stalled);
    }
    for todo in &status.todo {
        if let Some(problem) = &todo.problem {
            ui::warn(&format!("TODO.md of {}: {problem}", todo.repository));
        }
    }
    for task in status.needs_attention.iter().filter(|task| task.state == "asking") {
        ui::warn(&format!("{} {}", task.id, clean_line(&task.why, ROOM * 2)));
    }
    if !status.running.is_empty() {
        let rows: Vec<Vec<String>> = status
            .running
            .iter()
            .map(|task| {
                let seconds = u64::try_from(task.seconds.unwrap_or_default()).unwrap_or_default();
                let cost = task.cost_usd.and_then(Nano::from_usd).map(|cost| cost.to_string());
                vec![
                    task.id.to_string(),
                    task.state.clone(),
                    task.model.clone().unwrap_or_default(),
                    duration::show(Duration::from_secs(seconds)),
                    cost.unwrap_or_default(),
                    clean_line(&task.why, ROOM),
                ]
            })
            .collect();
        ui::result(&format!("\n{}", ui::table(&["RUNNING", "STATE", "MODEL", "FOR", "COST", "HOW"], &rows)));
    }
    let failed = status.needs_attention.iter().filter(|task| task.state == "failed").take(SHOWN);
    let held: Vec<_> = status.held.iter().chain(failed).collect();
    if !held.is_empty() {
        let rows: Vec<Vec<String>> = held
            .iter()
            .map(|task| vec![task.id.to_string(), task.state.clone(), clean_line(&task.why, ROOM)])
            .collect();
        ui::result(&format!("\n{}", ui::table(&["HELD", "STATE", "WHY"], &rows)));
    }
    if !status.conflicts.is_empty() {
        let rows: Vec<Vec<String>> = status
            .conflicts
            .iter()
            .map(|conflict| {
                vec![conflict.task.to_string(), conflict.with.clone(), clean_line(&conflict.paths.join(", "), ROOM)]
            })
            .collect();
        ui::result(&format!("\n{}", ui::table(&["CONFLICT", "WITH", "IN"], &rows)));
    }
    if !status.batches.is_empty() {
        let row = |batch: &_| {
            let shuntyard_engine::queue::supervise::BatchStatus { name, concurrency, paused, counts } = batch;
            batches::row(name, *concurrency, *paused, counts)
        };
        let rows: Vec<Vec<String>> = status.batches.iter().map(row).collect();
        ui::result(&format!("\n{}", ui::table(&batches::HEAD, &rows)));
    }
}
