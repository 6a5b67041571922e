//! `shuntyard batch create`.

use crate::{
    cli::Global,
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::work::task::{Phase, TaskId};
use shuntyard_engine::Context;
use shuntyard_host::clock::now_micros;
use shuntyard_store::{BatchRecord, ErrorKind, StoreError};
use std::process::ExitCode;

const LONGEST: usize = 64;

#[derive(Debug, Args)]
pub struct CreateArgs {
    /// What it is called
    #[arg(value_parser = name)]
    name: String,
    /// How many of its tasks may be at work at once; without it only the other limits count
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    concurrency: Option<u32>,
    /// Queued tasks to put into it
    #[arg(long, value_name = "ID[,ID]", value_delimiter = ',')]
    tasks: Vec<TaskId>,
    /// Only check, and say what would be done
    #[arg(long)]
    dry_run: bool,
}

/// A plain word: it is a key of budgets and of slots as well.
fn name(text: &str) -> Result<String, String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_' | '.');
    if text.is_empty() || text.chars().count() > LONGEST || !text.chars().all(plain) {
        return Err(format!("write one word of letters, digits, `-`, `_` and `.`, up to {LONGEST} characters"));
    }
    Ok(text.to_owned())
}

pub async fn run(global: &Global, args: &CreateArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    refuse(&context, args).await?;
    let concurrency = args.concurrency.unwrap_or_default();
    if !args.dry_run {
        let now = now_micros();
        let batch = BatchRecord { name: args.name.clone(), concurrency, paused: false, created_at: now };
        context.store.create_batch(&batch).await.map_err(|error| taken(&args.name, error))?;
        if !args.tasks.is_empty() {
            context.store.join_batch(&args.name, &args.tasks, now_micros()).await.map_err(|error| {
                match error.kind() {
                    // Checked above: one of them was claimed in between.
                    ErrorKind::Conflict => Failure::refused(
                        format!("the batch was created, but {error}"),
                        "see what is queued with `shuntyard task list --phase queued`",
                    ),
                    _ => error.into(),
                }
            })?;
        }
    }
    match global.format() {
        Format::Json => {
            let mut document = json!({"name": args.name, "concurrency": concurrency, "tasks": args.tasks});
            if args.dry_run {
                document = json!({ "would_create": document });
            }
            ui::json(&document);
        }
        Format::People => {
            let did = if args.dry_run { "would create" } else { "created" };
            let tasks = match args.tasks.len() {
                0 => String::new(),
                1 => " with 1 task".to_owned(),
                count => format!(" with {count} tasks"),
            };
            ui::result(&format!("{did} batch {}{tasks}", args.name));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Checks everything that can be wrong before anything is written.
async fn refuse(context: &Context, args: &CreateArgs) -> Result<(), Failure> {
    if context.store.batches().await?.iter().any(|batch| batch.name == args.name) {
        return Err(there(&args.name));
    }
    for id in &args.tasks {
        let record = context.store.task(id).await.map_err(|error| Failure::task(error.into()))?;
        if record.task.state.phase() != Phase::Queued {
            let message = format!("{id} is {}: only queued tasks can join a batch", record.task.state.name());
            return Err(Failure::refused(message, "leave it out, or `shuntyard task reset` it first"));
        }
    }
    Ok(())
}

fn there(name: &str) -> Failure {
    Failure::usage(format!("there is a batch `{name}` already"), "choose another name, or see `shuntyard batch list`")
}

fn taken(name: &str, error: StoreError) -> Failure {
    if error.kind() == ErrorKind::Conflict { there(name) } else { error.into() }
}
