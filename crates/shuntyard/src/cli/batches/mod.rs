//! `shuntyard batch`: tasks that are limited, paused and cancelled together.

mod cancel;
mod create;

use super::{Global, moment::rfc3339, status};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::{Args, Subcommand};
use serde_json::{Value, json};
use shuntyard_core::work::task::Phase;
use shuntyard_engine::Context;
use shuntyard_host::clock::now_micros;
use shuntyard_store::BatchRecord;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum BatchCommand {
    /// Create a batch, and put queued tasks into it
    Create(create::CreateArgs),
    /// List the batches, with how many tasks of each are where
    List,
    /// Show how a batch stands: what runs, and why the rest does not
    Status(Named),
    /// Start no more tasks of a batch; what runs goes on
    Pause(Change),
    /// Start tasks of a batch again
    Resume(Change),
    /// Cancel all tasks of a batch that are not settled
    Cancel(Change),
}

#[derive(Debug, Args)]
pub struct Named {
    /// The batch
    #[arg(value_name = "BATCH")]
    name: String,
}

#[derive(Debug, Args)]
pub struct Change {
    /// The batch
    #[arg(value_name = "BATCH")]
    name: String,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(global: &Global, command: &BatchCommand) -> Result<ExitCode, Failure> {
    match command {
        BatchCommand::Create(args) => create::run(global, args).await,
        BatchCommand::List => list(global).await,
        BatchCommand::Status(named) => status::show(global, Some(&named.name)).await,
        BatchCommand::Pause(change) => pause(global, change, Wanted::Paused).await,
        BatchCommand::Resume(change) => pause(global, change, Wanted::Running).await,
        BatchCommand::Cancel(change) => cancel::run(global, change).await,
    }
}

/// The refusal of a name that no batch has.
pub fn unknown(name: &str) -> Failure {
    let message = format!("there is no batch `{name}`");
    Failure::usage(message, format!("create it with `shuntyard batch create {name}`, or see `shuntyard batch list`"))
}

pub async fn find(context: &Context, name: &str) -> Result<BatchRecord, Failure> {
    let batches = context.store.batches().await?;
    batches.into_iter().find(|batch| batch.name == name).ok_or_else(|| unknown(name))
}

/// How many tasks are in each phase, by its name.
pub fn counts(counts: &[(Phase, u64)]) -> Value {
    counts.iter().map(|(phase, count)| (phase.as_str().to_owned(), Value::from(*count))).collect()
}

/// The same in a few words, without what is not there.
pub fn counted(counts: &[(Phase, u64)]) -> String {
    let there = counts.iter().filter(|(_, count)| *count > 0);
    let words: Vec<String> = there.map(|(phase, count)| format!("{count} {phase}")).collect();
    if words.is_empty() { "no tasks".to_owned() } else { words.join(", ") }
}

async fn list(global: &Global) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let mut found = Vec::new();
    for batch in context.store.batches().await? {
        let counts = context.store.task_counts(Some(&batch.name)).await?;
        found.push((batch, counts));
    }
    match global.format() {
        Format::Json => {
            let batches: Vec<Value> = found
                .iter()
                .map(|(batch, tasks)| {
                    json!({"name": batch.name, "concurrency": batch.concurrency, "paused": batch.paused,
                        "created_at": rfc3339(batch.created_at), "counts": counts(tasks)})
                })
                .collect();
            ui::json(&json!({ "batches": batches }));
        }
        Format::People if found.is_empty() => ui::note("no batches; create one with `shuntyard batch create`"),
        Format::People => {
            let rows: Vec<Vec<String>> =
                found.iter().map(|(batch, tasks)| row(&batch.name, batch.concurrency, batch.paused, tasks)).collect();
            ui::result(&ui::table(&HEAD, &rows));
        }
    }
    Ok(ExitCode::SUCCESS)
}

pub const HEAD: [&str; 4] = ["BATCH", "AT ONCE", "STATE", "TASKS"];

pub fn row(name: &str, concurrency: u32, paused: bool, tasks: &[(Phase, u64)]) -> Vec<String> {
    let at_once = if concurrency == 0 { "no limit".to_owned() } else { concurrency.to_string() };
    let state = if paused { "paused" } else { "open" };
    vec![name.to_owned(), at_once, state.to_owned(), counted(tasks)]
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Paused,
    Running,
}

async fn pause(global: &Global, change: &Change, wanted: Wanted) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let batch = find(&context, &change.name).await?;
    let paused = wanted == Wanted::Paused;
    if !change.dry_run {
        context.store.pause_batch(&batch.name, paused, now_micros()).await?;
    }
    match global.format() {
        Format::Json if change.dry_run => ui::json(&json!({"name": batch.name, "would_be_paused": paused})),
        Format::Json => ui::json(&json!({"name": batch.name, "paused": paused})),
        Format::People => {
            let would = if change.dry_run { "would be" } else { "is" };
            let state = if paused { "paused; what runs goes on" } else { "open" };
            ui::result(&format!("batch {} {would} {state}", batch.name));
        }
    }
    Ok(ExitCode::SUCCESS)
}
