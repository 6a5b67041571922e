//! `shuntyard task log`: every change of a task, the oldest first, and where its logs are.

use super::transcript;
use crate::{
    cli::{
        Global, input,
        moment::{local, rfc3339},
    },
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::{
    values::clean,
    work::task::{Change, TaskId},
};
use shuntyard_engine::{Context, queue::supervise::log_dir};
use shuntyard_store::Event;
use std::{path::PathBuf, process::ExitCode, time::Duration};

const PAGE: u32 = 500;
const LOOK_EVERY: Duration = Duration::from_millis(200);

#[derive(Debug, Args)]
pub struct LogArgs {
    /// The task
    id: TaskId,
    /// Go on as it changes, until nothing more happens by itself
    #[arg(short, long)]
    follow: bool,
    /// Show the steps of its agents instead
    #[arg(long, conflicts_with = "follow")]
    transcript: bool,
}

pub async fn run(global: &Global, args: &LogArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    super::find(&context, &args.id).await?;
    let format = global.format();
    if args.transcript {
        transcript::show(&context, &args.id, &context.store.runs(&args.id).await?, format);
        return Ok(ExitCode::SUCCESS);
    }
    if args.follow {
        tokio::select! {
            followed = follow(&context, &args.id, format) => followed?,
            () = input::interrupted() => {}
        }
        if format == Format::People {
            show_logs(&context, &args.id);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let events = all(&context, &args.id, &mut 0).await?;
    match format {
        Format::Json => {
            let events: Vec<Value> = events.iter().map(document).collect();
            ui::json(&json!({ "id": args.id, "events": events, "logs": logs(&context, &args.id) }));
        }
        Format::People => {
            events.iter().for_each(|event| ui::result(&line(event)));
            show_logs(&context, &args.id);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Those after a position, which moves on.
pub(super) async fn all(context: &Context, id: &TaskId, after: &mut i64) -> Result<Vec<Event>, Failure> {
    let mut found = Vec::new();
    loop {
        let page = context.store.task_events(id, *after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(found) };
        *after = last.position;
        found.extend(page);
    }
}

async fn follow(context: &Context, id: &TaskId, format: Format) -> Result<(), Failure> {
    let mut after = 0;
    loop {
        // Read before the events: an event that comes in between is printed the next time.
        let settled = super::find(context, id).await?.task.state.phase().is_settled();
        for event in all(context, id, &mut after).await? {
            match format {
                Format::Json => ui::json_line(&document(&event)),
                Format::People => ui::result(&line(&event)),
            }
        }
        if settled {
            return Ok(());
        }
        tokio::time::sleep(LOOK_EVERY).await;
    }
}

fn change(event: &Event) -> Option<Change> {
    serde_json::from_value(event.data.clone()).ok()
}

pub(super) fn document(event: &Event) -> Value {
    let mut document = json!({"position": event.position, "at": rfc3339(event.at), "kind": event.kind});
    if let (Some(document), Some(data)) = (document.as_object_mut(), event.data.as_object()) {
        document.extend(data.clone());
    }
    document
}

pub(super) fn line(event: &Event) -> String {
    let at = local(event.at);
    let Some(change) = change(event) else { return format!("{at}  {}", event.kind) };
    let from = if change.from.is_empty() { "new" } else { &change.from };
    let why = if change.detail.is_empty() { String::new() } else { format!(": {}", clean(&change.detail)) };
    format!("{at}  {from} → {} ({}){why}", change.to, change.event)
}

/// The files that its workers and commands have written, in order.
fn logs(context: &Context, id: &TaskId) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(log_dir(context, id)).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_file()).collect();
    files.sort();
    files
}

fn show_logs(context: &Context, id: &TaskId) {
    for file in logs(context, id) {
        ui::result(&format!("log: {}", file.display()));
    }
}
