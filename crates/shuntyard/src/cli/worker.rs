//! `shuntyard worker`: which worker has which model, and changing it.

use super::{Global, input};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use shuntyard_core::values::ModelPolicy;
use shuntyard_engine::{
    Context,
    queue::jobs::{JobError, Op, WorkerView, operate, workers},
};
use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, Subcommand)]
pub enum WorkerCommand {
    /// List the workers: their models, why, and what waits for them
    List {
        /// Also those that were stopped
        #[arg(long)]
        all: bool,
    },
    /// Change the model of a worker
    #[command(subcommand)]
    Model(ModelCommand),
    /// End a worker: what it is at work on is cancelled, and what waits for it too
    Stop {
        /// A worker, or a profile of which one works here
        worker: String,
        #[command(flatten)]
        place: PlaceArgs,
    },
}

#[derive(Debug, Subcommand)]
pub enum ModelCommand {
    /// Give a worker another model, until it is reset; a profile without a worker gets one
    Set {
        /// A worker, or a profile
        worker: String,
        /// provider/model, a tier, a tag such as node:fast, or a part of a name
        model: String,
        /// For how long: until it is reset, or for the next message
        #[arg(long, value_enum, default_value_t = Policy::Sticky)]
        policy: Policy,
        /// Begin a new conversation
        #[arg(long)]
        respawn: bool,
        #[command(flatten)]
        place: PlaceArgs,
    },
    /// Let a worker have the model of its profile again
    Reset {
        /// A worker, or a profile of which one works here
        worker: String,
        /// Begin a new conversation
        #[arg(long)]
        respawn: bool,
        #[command(flatten)]
        place: PlaceArgs,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Policy {
    /// Until it is reset
    Sticky,
    /// For the next message alone; then the model of its profile
    Dynamic,
}

#[derive(Debug, Args)]
pub struct PlaceArgs {
    /// The directory that the worker works in
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Say what would change, and change nothing
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(global: &Global, command: &WorkerCommand) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let (op, place) = match command {
        WorkerCommand::List { all } => return list(global, &context, *all).await,
        WorkerCommand::Stop { worker, place } => (Op::Stop { worker: worker.clone() }, place),
        WorkerCommand::Model(ModelCommand::Set { worker, model, policy, respawn, place }) => {
            let policy = match policy {
                Policy::Sticky => ModelPolicy::Sticky,
                Policy::Dynamic => ModelPolicy::Next,
            };
            (Op::ModelSet { worker: worker.clone(), model: model.clone(), policy, respawn: *respawn }, place)
        }
        WorkerCommand::Model(ModelCommand::Reset { worker, respawn, place }) => {
            (Op::ModelReset { worker: worker.clone(), respawn: *respawn }, place)
        }
    };
    let directory = input::directory(place.dir.as_ref())?;
    let view = if place.dry_run {
        shuntyard_engine::queue::jobs::would_be(&context, &directory, &op).await
    } else {
        operate(&context, &directory, &op).await
    };
    let view = view.map_err(failure)?;
    match global.format() {
        Format::Json => ui::json(&view),
        Format::People => ui::result(&told(&op, &view, place.dry_run)),
    }
    Ok(ExitCode::SUCCESS)
}

fn told(op: &Op, view: &WorkerView, dry_run: bool) -> String {
    let would = if dry_run { "would be" } else { "is" };
    match op {
        Op::Stop { .. } => format!("{} {would} stopped", view.name),
        Op::ModelSet { policy, .. } => {
            let how_long = if *policy == ModelPolicy::Next { "for its next message" } else { "until it is reset" };
            format!("{} {would} on {} {how_long} ({})", view.name, view.model, view.reason)
        }
        Op::ModelReset { .. } => format!("{} {would} on {} again ({})", view.name, view.model, view.reason),
    }
}

async fn list(global: &Global, context: &Context, all: bool) -> Result<ExitCode, Failure> {
    let workers = workers(context, all).await.map_err(failure)?;
    match global.format() {
        Format::Json => ui::json(&json!({"workers": workers})),
        Format::People if workers.is_empty() => {
            ui::result("there are no workers; a client of `shuntyard mcp` makes one with task_start");
        }
        Format::People => {
            let row = |worker: &WorkerView| {
                vec![
                    worker.name.clone(),
                    worker.state.clone(),
                    worker.model.clone(),
                    worker.policy.clone(),
                    worker.queued.to_string(),
                    worker.directory.clone(),
                    format!("{}: {}", worker.reference, worker.reason),
                ]
            };
            let rows: Vec<_> = workers.iter().map(row).collect();
            ui::result(&ui::table(&["WORKER", "STATE", "MODEL", "POLICY", "WAITING", "DIRECTORY", "WHY"], &rows));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// What people see of a refusal that is worded for both.
pub(super) fn failure(error: JobError) -> Failure {
    match shuntyard_core::ErrorClass::parse(&error.class) {
        Some(class) => Failure { hint: error.hint, ..Failure::classed(class, error.message) },
        None if error.class == "unavailable" => Failure::unavailable("unavailable", error.message, error.hint),
        None => Failure::usage(error.message, error.hint),
    }
}
