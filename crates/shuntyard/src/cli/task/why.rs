//! `shuntyard task why`: what blocks a task, its holder, every transition with its time and reason, how the model of
//! each attempt was chosen, and what was found.

use super::{document::Whole, explained, explained::Explained, log, show};
use crate::{
    cli::{Global, moment::rfc3339},
    failure::Failure,
    ui::{self, Format},
};
use serde_json::{Value, json};
use shuntyard_core::{
    values::clean,
    work::task::{Receipt, TaskId},
};
use shuntyard_engine::queue::supervise::{TaskStatus, at_work, why};
use shuntyard_store::{Event, RunRecord};
use std::process::ExitCode;

pub async fn run(global: &Global, id: &TaskId) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let whole = Whole::of(&context, super::find(&context, id).await?).await?;
    let record = &whole.record;
    let live = whole.runs.iter().rev().find(|run| record.task.state.is_held() && run.epoch == record.task.epoch);
    let holder = match live {
        Some(run) => Some((run, at_work(&context, record, run).await)),
        None => None,
    };
    let reason = why(&context, record).await.map_err(Failure::task)?;
    // A running task has no reason of its own: its holder is the answer.
    let reason = match &holder {
        Some((_, status)) if reason.is_empty() => status.why.clone(),
        _ => reason,
    };
    let events = log::all(&context, id, &mut 0).await?;
    let attempts = explained::attempts(&context, &whole.runs, &events).await;
    match global.format() {
        Format::Json => ui::json(&json!({
            "id": record.task.id,
            "phase": record.task.state.phase(),
            "state": record.task.state.name(),
            "why": reason,
            "holder": holder.as_ref().map(|(run, status)| held_by(run, status)),
            "route": attempts.iter().rev().find_map(|attempt| attempt.route.as_ref()),
            "transitions": events.iter().map(transition).collect::<Vec<_>>(),
            "attempts": attempts.iter().map(Explained::document).collect::<Vec<_>>(),
            "evidence": record.receipt,
        })),
        Format::People => people(&whole, &reason, holder.as_ref(), &events, &attempts),
    }
    Ok(ExitCode::SUCCESS)
}

/// The route of a claim is with its attempt, and need not be there twice.
fn transition(event: &Event) -> Value {
    let mut document = log::document(event);
    if let Some(fields) = document.as_object_mut() {
        fields.remove("route");
    }
    document
}

fn held_by(run: &RunRecord, status: &TaskStatus) -> Value {
    json!({
        "host": run.host.split('#').next(),
        "pid": run.worker.as_ref().map(|worker| worker.pid),
        "model": status.model,
        "since": rfc3339(run.claimed_at),
        "last_sign_at": rfc3339(run.progress_at),
        "lease_until": rfc3339(run.lease_until),
        "seconds": status.seconds,
        "cost_usd": status.cost_usd,
    })
}

fn people(
    whole: &Whole,
    reason: &str,
    holder: Option<&(&RunRecord, TaskStatus)>,
    events: &[Event],
    attempts: &[Explained<'_>],
) {
    let task = &whole.record.task;
    let colon = if reason.is_empty() { "" } else { ": " };
    ui::frame(&format!("{} is {}{colon}{}", task.id, task.state.name(), clean(reason)));
    if let Some((run, status)) = holder {
        let host = run.host.split('#').next().unwrap_or_default();
        let model = status.model.as_deref().map(|model| format!(", with {model}")).unwrap_or_default();
        ui::result(&format!("held on {host} for {} s{model}", status.seconds.unwrap_or_default()));
    }
    events.iter().for_each(|event| ui::result(&log::line(event)));
    if !whole.runs.is_empty() {
        ui::result(&format!("\n{}", show::tries(&whole.runs)));
    }
    attempts.iter().for_each(Explained::show);
    let receipt = whole.record.receipt.clone().and_then(|receipt| serde_json::from_value::<Receipt>(receipt).ok());
    if let Some(receipt) = receipt {
        ui::result(&format!("\n{}", show::evidence(&receipt)));
    }
}
