//! `shuntyard batch cancel`: page by page, so that it works for a hundred thousand tasks as it does for three.

use super::{Change, find};
use crate::{
    cli::{Global, task::who},
    failure::Failure,
    ui::{self, Format},
};
use serde_json::json;
use shuntyard_core::work::task::State;
use shuntyard_engine::{
    Context,
    queue::supervise::{self as engine, ChangeError},
};
use shuntyard_store::TaskFilter;
use std::process::ExitCode;

const PAGE: u32 = 200;

#[derive(Debug, Default)]
struct Cancelled {
    cancelled: u64,
    /// Running, with a cancellation request.
    stopping: u64,
}

pub async fn run(global: &Global, change: &Change) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let batch = find(&context, &change.name).await?;
    if change.dry_run {
        let tasks = context.store.task_counts(Some(&batch.name)).await?;
        let open: u64 = tasks.iter().filter(|(phase, _)| !phase.is_settled()).map(|(_, count)| count).sum();
        match global.format() {
            Format::Json => ui::json(&json!({"name": batch.name, "would_cancel": open})),
            Format::People => ui::result(&format!("would cancel {open} of batch {}", batch.name)),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let Cancelled { cancelled, stopping } = cancel_all(&context, &batch.name).await?;
    match global.format() {
        Format::Json => ui::json(&json!({"name": batch.name, "cancelled": cancelled, "stopping": stopping})),
        Format::People => {
            let more = if stopping > 0 { format!("; {stopping} at work end within seconds") } else { String::new() };
            ui::result(&format!("cancelled {cancelled} of batch {}{more}", batch.name));
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn cancel_all(context: &Context, batch: &str) -> Result<Cancelled, Failure> {
    let by = who(context);
    let mut done = Cancelled::default();
    let mut filter = TaskFilter { batch: Some(batch.to_owned()), limit: PAGE, ..TaskFilter::default() };
    loop {
        let page = context.store.tasks(&filter).await?;
        let Some(last) = page.last() else { return Ok(done) };
        filter.after = last.number;
        for record in page.iter().filter(|record| !record.task.state.phase().is_settled()) {
            match engine::cancel(context, &record.task.id, &by).await {
                Ok(record) if matches!(record.task.state, State::Stopping { .. }) => done.stopping += 1,
                Ok(_) => done.cancelled += 1,
                // It has ended by itself in the meantime, or was cancelled before.
                Err(ChangeError::Illegal(_)) => {}
                Err(error) => return Err(Failure::task(error)),
            }
        }
    }
}
