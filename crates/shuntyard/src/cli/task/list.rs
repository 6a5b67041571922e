//! `shuntyard task list`.

use super::document::Whole;
use crate::{
    cli::{Global, input},
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::{
    values::clean_line,
    work::task::{Phase, group_entries},
};
use shuntyard_engine::Context;
use shuntyard_host::repository::repository_of;
use shuntyard_store::{TaskFilter, TaskRecord};
use std::{path::PathBuf, process::ExitCode};

/// How many are read in one go.
const PAGE: u32 = 500;
/// The most characters of a text in a row.
const ROOM: usize = 60;

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only those of this phase: queued, waiting, running, done, failed, blocked or cancelled
    #[arg(long, value_parser = phase)]
    phase: Option<Phase>,
    /// Only those of this batch
    #[arg(long)]
    batch: Option<String>,
    /// Only those of this repository
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// At most so many; all of them by default
    #[arg(long, value_name = "N")]
    limit: Option<usize>,
}

fn phase(text: &str) -> Result<Phase, String> {
    let names = || Phase::ALL.map(Phase::as_str).join(", ");
    Phase::parse(text).ok_or_else(|| format!("there is no such phase; there are: {}", names()))
}

pub async fn run(global: &Global, args: &ListArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let mut records = read(&context, args).await?;
    group_entries(&mut records, |record| (record.task.id.clone(), record.task.spec.entry_of.clone()));
    if global.format() == Format::Json {
        let mut tasks = Vec::with_capacity(records.len());
        for record in records {
            tasks.push(Whole::of(&context, record).await?.document());
        }
        ui::json(&json!({ "tasks": tasks }));
        return Ok(ExitCode::SUCCESS);
    }
    if records.is_empty() {
        ui::note("no tasks; add one with `shuntyard task add`");
        return Ok(ExitCode::SUCCESS);
    }
    let rows: Vec<Vec<String>> = records.iter().map(row).collect();
    ui::result(&ui::table(&["ID", "STATE", "TRIES", "BATCH", "TASK", "WHY"], &rows));
    Ok(ExitCode::SUCCESS)
}

async fn read(context: &Context, args: &ListArgs) -> Result<Vec<TaskRecord>, Failure> {
    let most = args.limit.unwrap_or(usize::MAX);
    let mut filter = TaskFilter {
        phase: args.phase,
        batch: args.batch.clone(),
        repository: args.repo.as_ref().map(repository).transpose()?,
        after: 0,
        limit: PAGE,
    };
    let mut found: Vec<TaskRecord> = Vec::new();
    while found.len() < most {
        let page = context.store.tasks(&filter).await?;
        let Some(last) = page.last() else { break };
        filter.after = last.number;
        found.extend(page);
    }
    found.truncate(most);
    Ok(found)
}

/// As tasks name it: the top of the main checkout, or the directory itself where there is no repository.
fn repository(named: &PathBuf) -> Result<String, Failure> {
    let directory = input::directory(Some(named))?;
    Ok(repository_of(&directory).unwrap_or(directory).display().to_string())
}

fn row(record: &TaskRecord) -> Vec<String> {
    let task = &record.task;
    let why = match record.open_blockers {
        0 => task.state.reason(),
        open if task.state.phase() == Phase::Queued => {
            format!("waits for {open} other{}", if open == 1 { "" } else { "s" })
        }
        _ => task.state.reason(),
    };
    let (id, what) = match (&task.spec.entry_of, &task.spec.model) {
        (Some(_), Some(model)) => (format!("  {}", task.id), format!("entry by {model}")),
        _ => (task.id.to_string(), task.spec.description.clone()),
    };
    vec![
        id,
        task.state.name().to_owned(),
        task.epoch.to_string(),
        task.batch.clone().unwrap_or_default(),
        clean_line(&what, ROOM),
        clean_line(&why, ROOM),
    ]
}
