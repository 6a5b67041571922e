//! `shuntyard task show`.

use super::document::{self, Whole};
use crate::{
    cli::{Global, moment::local},
    failure::Failure,
    ui::{self, Format},
};
use shuntyard_core::{
    Nano,
    values::{Urgency, clean, clean_line},
    work::task::{Agent, Receipt, TaskId},
};
use shuntyard_store::RunRecord;
use std::process::ExitCode;

const ROOM: usize = 100;

pub async fn run(global: &Global, id: &TaskId) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let whole = Whole::of(&context, super::find(&context, id).await?).await?;
    match global.format() {
        Format::Json => ui::json(&whole.document()),
        Format::People => people(&whole),
    }
    Ok(ExitCode::SUCCESS)
}

fn people(whole: &Whole) {
    let task = &whole.record.task;
    let spec = &task.spec;
    let reason = task.state.reason();
    let colon = if reason.is_empty() { "" } else { ": " };
    ui::frame(&format!("{} is {}{colon}{}", task.id, task.state.name(), clean(&reason)));
    ui::result(&clean(&spec.description));
    let listed = |list: &[String]| (!list.is_empty()).then(|| list.join(", "));
    let depends: Vec<String> = task.depends_on.iter().map(TaskId::to_string).collect();
    let command = match &spec.agent {
        Agent::Command { command } => Some(command.clone()),
        Agent::Opencode { .. } => None,
    };
    let facts = [
        ("repository", Some(spec.repository.clone())),
        ("base", Some(spec.base.clone()).filter(|base| !base.is_empty())),
        ("branch", whole.branch().map(str::to_owned)),
        ("worktree", whole.worktree().map(str::to_owned)),
        ("command", command),
        ("model", spec.model.clone()),
        ("tier", spec.tier.clone()),
        ("critical", (spec.urgency != Urgency::Normal).then(|| "yes".to_owned())),
        ("verify", listed(&spec.verify)),
        ("batch", task.batch.clone()),
        ("parent", task.parent.as_ref().map(TaskId::to_string)),
        ("entry of", spec.entry_of.as_ref().map(TaskId::to_string)),
        ("strategy", spec.strategy.map(|strategy| strategy.as_str().to_owned())),
        ("depends on", listed(&depends)),
        ("labels", listed(&spec.labels)),
        ("priority", (task.priority != 0).then(|| task.priority.to_string())),
        ("added", Some(local(task.created_at))),
        ("changed", Some(local(task.changed_at))),
        ("wakes", task.state.wakes_at().map(local)),
        ("cost", Some(whole.spent.cost).filter(|cost| *cost != Nano::ZERO).map(|cost| cost.to_string())),
    ];
    let rows: Vec<Vec<String>> =
        facts.into_iter().filter_map(|(name, value)| Some(vec![name.to_owned(), clean_line(&value?, ROOM)])).collect();
    ui::result(&ui::table(&["", ""], &rows));
    if let Some(contest) = &whole.contest {
        ui::result(&contest.people());
    }
    if !whole.runs.is_empty() {
        ui::result(&tries(&whole.runs));
    }
    let receipt = whole.record.receipt.clone().and_then(|receipt| serde_json::from_value::<Receipt>(receipt).ok());
    if let Some(receipt) = receipt {
        ui::result(&evidence(&receipt));
    }
}

pub fn tries(runs: &[RunRecord]) -> String {
    let rows: Vec<Vec<String>> = runs
        .iter()
        .map(|run| {
            let failed = run.failure_mode.map(|mode| format!(" ({})", mode.as_str())).unwrap_or_default();
            let outcome = run.outcome.as_deref().unwrap_or(if run.ended_at.is_none() { "at work" } else { "" });
            vec![
                run.epoch.to_string(),
                document::model(run).unwrap_or_default().to_owned(),
                format!("{outcome}{failed}"),
                local(run.started_at.unwrap_or(run.claimed_at)),
                run.cost.to_string(),
                clean_line(document::detail(run).unwrap_or_default(), ROOM),
            ]
        })
        .collect();
    ui::table(&["TRY", "MODEL", "OUTCOME", "BEGAN", "COST", "WHY"], &rows)
}

/// What the newest evaluation has found: the reasons for a good verdict, or what there is to see when it was not.
pub fn evidence(receipt: &Receipt) -> String {
    let findings = &receipt.findings;
    let mut lines = Vec::new();
    lines.push(format!("evidence of try {}: {}", receipt.epoch, if receipt.good { "good" } else { "not good" }));
    lines.extend(receipt.reasons.iter().map(|reason| format!("  {}", clean_line(reason, ROOM))));
    if receipt.good {
        return lines.join("\n");
    }
    for check in &findings.checks {
        let said = last_line(&check.tail);
        lines.push(format!("  `{}` ended with {}{said}", clean_line(&check.command, ROOM), check.exit.shown()));
    }
    if !findings.said.trim().is_empty() {
        lines.push(format!("  last words{}", last_line(&findings.said)));
    }
    lines.join("\n")
}

fn last_line(text: &str) -> String {
    let last = text.trim_end().lines().next_back().map(|line| clean_line(line, ROOM)).unwrap_or_default();
    if last.is_empty() { last } else { format!(": {last}") }
}
