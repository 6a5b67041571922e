//! `shuntyard prune`: removes what finished tasks have left on the disk. No commit is lost by it, except on demand.

use super::{Global, moment::rfc3339};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::values::{duration, size};
use shuntyard_engine::queue::supervise::{Commits, Prunable, prunable, prune};
use shuntyard_host::clock::now_micros;
use std::{process::ExitCode, time::Duration};

#[derive(Debug, Args)]
pub struct PruneArgs {
    /// Only tasks that have been over for so long; `supervise.prune_after` by default
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    older_than: Option<Duration>,
    /// Also remove commits of tasks that are done which were not delivered, such as superseded tries
    #[arg(long)]
    commits: bool,
    /// Only list what would be removed, with its size
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(global: &Global, args: &PruneArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let Some(age) = args.older_than.or(context.config.supervise.prune_after.0) else {
        return Err(Failure::usage("supervise.prune_after is `none`", "give --older-than, as in 30d"));
    };
    let before = now_micros().saturating_sub(i64::try_from(age.as_micros()).unwrap_or(i64::MAX));
    let commits = if args.commits { Commits::Undelivered } else { Commits::Kept };
    let mut found = prunable(&context, before, commits).await.map_err(Failure::task)?;
    let mut problems = Vec::new();
    if !args.dry_run {
        let mut removed = Vec::new();
        for one in found {
            match prune(&context, &one).await {
                Ok(()) => removed.push(one),
                Err(problem) => problems.push(format!("{}: {problem}", one.id)),
            }
        }
        found = removed;
    }
    let bytes: u64 = found.iter().map(|one| one.bytes).sum();
    match global.format() {
        Format::Json => {
            let tasks: Vec<Value> = found.iter().map(document).collect();
            ui::json(&json!({"dry_run": args.dry_run, "tasks": tasks, "bytes": bytes, "problems": problems}));
        }
        Format::People => {
            let would = if args.dry_run { "would be " } else { "" };
            found.iter().for_each(|one| ui::result(&line(one)));
            ui::note(&format!("{} of {} tasks {would}removed", size::show(bytes), found.len()));
            problems.iter().for_each(|problem| ui::warn(problem));
        }
    }
    Ok(if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(1) })
}

fn document(one: &Prunable) -> Value {
    json!({"id": one.id, "phase": one.phase, "changed_at": rfc3339(one.changed_at), "logs": one.logs,
        "worktree": one.worktree, "bytes": one.bytes, "kept": one.kept})
}

fn line(one: &Prunable) -> String {
    let places = [&one.logs, &one.worktree].into_iter().flatten().map(|path| path.display().to_string());
    let kept = (!one.kept.is_empty()).then(|| format!("{} commits", one.kept.len()));
    let places: Vec<String> = places.chain(kept).collect();
    format!("{} ({}, {}): {}", one.id, one.phase, size::show(one.bytes), places.join(", "))
}
