//! `shuntyard report`: the results of the tasks in the last hours, and what all of it cost.

use super::{
    Global,
    moment::{local, rfc3339},
    task::document::Whole,
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
    work::task::{Delivered, Phase, State},
};
use shuntyard_engine::Context;
use shuntyard_host::clock::now_micros;
use shuntyard_store::{SpendKey, SpendKind, TaskFilter, TaskRecord, bucket};
use std::{process::ExitCode, time::Duration};

const PAGE: u32 = 500;
const ROOM: usize = 100;

#[derive(Debug, Args)]
pub struct ReportArgs {
    /// How far it goes back, as in 12h or 7d. The cost counts from the beginning of that quarter of an hour
    #[arg(long, value_name = "DURATION", default_value = "24h", value_parser = duration::parse)]
    since: Duration,
}

pub async fn run(global: &Global, args: &ReportArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let since = now_micros().saturating_sub(i64::try_from(args.since.as_micros()).unwrap_or(i64::MAX));
    let done = ended(&context, Phase::Done, since).await?;
    let failed = ended(&context, Phase::Failed, since).await?;
    let blocked = ended(&context, Phase::Blocked, since).await?;
    let delivered: Vec<Value> = done.iter().filter_map(handed_over).collect();
    let key = SpendKey { kind: SpendKind::Overall, name: String::new() };
    let cost = context.store.spent(&key, bucket(since), i64::MAX).await?.cost;
    match global.format() {
        Format::Json => {
            let [done, failed, blocked] = [
                documents(&context, done).await?,
                documents(&context, failed).await?,
                documents(&context, blocked).await?,
            ];
            ui::json(&json!({"since": rfc3339(since), "done": done, "failed": failed, "blocked": blocked,
                "delivered": delivered, "cost_usd": cost.as_usd()}));
        }
        Format::People => show(since, [("DONE", &done), ("FAILED", &failed), ("BLOCKED", &blocked)], cost),
    }
    Ok(ExitCode::SUCCESS)
}

/// The tasks that came into this phase since then and are still in it.
async fn ended(context: &Context, phase: Phase, since: i64) -> Result<Vec<TaskRecord>, Failure> {
    let mut filter = TaskFilter { phase: Some(phase), limit: PAGE, ..TaskFilter::default() };
    let mut found = Vec::new();
    loop {
        let page = context.store.tasks(&filter).await?;
        let Some(last) = page.last() else { return Ok(found) };
        filter.after = last.number;
        found.extend(page.into_iter().filter(|record| record.task.changed_at >= since));
    }
}

/// Where delivered work is now.
fn handed_over(record: &TaskRecord) -> Option<Value> {
    let State::Done { delivered } = &record.task.state else { return None };
    let mut told = match delivered {
        Delivered::Branch { branch, head } => json!({"how": "branch", "branch": branch, "commit": head}),
        Delivered::Merged { base, head } => json!({"how": "merge", "base": base, "commit": head}),
        Delivered::PullRequest { url, head } => json!({"how": "pr", "url": url, "commit": head}),
        Delivered::Nothing => return None,
    };
    told["id"] = json!(record.task.id);
    told["repo"] = json!(record.task.spec.repository);
    Some(told)
}

async fn documents(context: &Context, records: Vec<TaskRecord>) -> Result<Vec<Value>, Failure> {
    let mut all = Vec::with_capacity(records.len());
    for record in records {
        all.push(Whole::of(context, record).await?.document());
    }
    Ok(all)
}

fn show(since: i64, sections: [(&str, &Vec<TaskRecord>); 3], cost: Nano) {
    ui::result(&format!("since {}: {cost}", local(since)));
    for (name, records) in sections.into_iter().filter(|(_, records)| !records.is_empty()) {
        let row = |record: &TaskRecord| {
            let task = &record.task;
            vec![
                task.id.to_string(),
                local(task.changed_at),
                clean_line(&task.spec.description, ROOM / 2),
                clean_line(&task.state.reason(), ROOM),
            ]
        };
        let rows: Vec<Vec<String>> = records.iter().map(row).collect();
        ui::result(&format!("\n{}", ui::table(&[name, "AT", "WHAT", "HOW"], &rows)));
    }
}
