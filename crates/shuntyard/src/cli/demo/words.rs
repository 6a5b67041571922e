//! The texts of the demo: the lines of a stage and of a task, the rows of the table, and the end. Pure; nothing is
//! printed here.

#[cfg(test)]
mod tests;

use shuntyard_core::{Nano, routing::Step, values::duration};
use shuntyard_engine::ops::demo::{DemoReport, Errand, News, Stage, StageReport, TaskNews, TaskReport};
use std::time::Duration;

/// Narrower than most terminals, so that the indented lines stay indented.
const WIDTH: usize = 78;
const INDENT: usize = 12;

/// The prompt of a stage, its model, the reason for it, and the result.
pub fn narrate(report: &StageReport) -> Vec<String> {
    let dispatch = &report.dispatch;
    let mut lines = Vec::new();
    let mut tell = |label: &str, text: &str| lines.extend(labelled(label, text));
    tell("asked", report.prompt);
    tell("route", &dispatch.route.reason);
    if report.stage == Stage::Routed {
        for step in dispatch.route.trace.iter().filter(|step| !step.chosen) {
            if let (Step::Tier, Some(candidate)) = (step.step, &step.candidate) {
                tell("", &format!("({candidate} was passed over: {})", step.why));
            }
        }
    }
    report.refused_values().for_each(|fault| tell("refused", fault));
    match (&dispatch.structured, &dispatch.error) {
        (_, Some(error)) => {
            tell("error", &format!("{}: {}", error.class, error.message));
            tell("next", &error.hint);
        }
        (Some(value), None) => tell("answer", &value.to_string()),
        (None, None) => tell("answer", &dispatch.text),
    }
    report.faults.iter().for_each(|fault| tell("WRONG", fault));
    lines
}

/// What the tasks are, before anything happens to them.
pub fn queued() -> Vec<String> {
    let line = |errand: Errand| {
        let after = errand.depends_on().map(|other| format!(" (after {})", other.id())).unwrap_or_default();
        labelled(errand.id().as_str(), &format!("{}{after}", errand.description()))
    };
    Errand::ALL.into_iter().flat_map(line).chain([String::new()]).collect()
}

/// What has happened to a task.
pub fn tell(told: &TaskNews) -> Vec<String> {
    let blocker = Errand::ALL.into_iter().find(|errand| errand.id() == told.task).and_then(Errand::depends_on);
    let text = match (&told.news, blocker) {
        (News::Claimed { number: 1, model }, Some(blocker)) => {
            format!("{} is done: {model} works in a worktree of its own", blocker.id())
        }
        (News::Claimed { number: 1, model }, None) => format!("claimed: {model} works in a worktree of its own"),
        (News::Claimed { number, model }, _) => format!("try {number}: {model} is told what went wrong, and goes on"),
        (News::Refused { why }, _) => format!("red: {}", first_line(why)),
        (News::Delivered { how }, _) => format!("green, and {how}"),
        (News::Held { state, why }, _) => format!("{state}: {}", first_line(why)),
    };
    labelled(told.task.as_str(), &text)
}

/// The first line alone: the output of a command follows it.
fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default().trim_end_matches(':')
}

/// A label, and the text beside it in as many lines as it needs.
fn labelled(label: &str, text: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.is_empty() => line.push_str(word),
            Some(line) if line.chars().count() + 1 + word.chars().count() <= WIDTH - INDENT => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let labels = std::iter::once(label).chain(std::iter::repeat(""));
    let width = INDENT - 4;
    labels.zip(lines).map(|(label, line)| format!("   {label:<width$} {line}")).collect()
}

/// In the order in which it happened.
pub fn rows(report: &DemoReport) -> Vec<Vec<String>> {
    let (last, first): (Vec<_>, Vec<_>) = report.stages.iter().partition(|stage| stage.stage == Stage::Quota);
    let tasks = report.tasks.iter().map(task_row);
    first.into_iter().map(stage_row).chain(tasks).chain(last.into_iter().map(stage_row)).collect()
}

fn task_row(report: &TaskReport) -> Vec<String> {
    let result = match report.merged() {
        _ if !report.faults.is_empty() => "WRONG".to_owned(),
        Some(commit) => {
            let short: String = commit.chars().take(7).collect();
            let at = if report.tries.len() > 1 { format!(", at try {}", report.tries.len()) } else { String::new() };
            format!("merged {short}{at}")
        }
        None => report.phase.to_string(),
    };
    let model = report.tries.last().map(|last| last.model.clone()).unwrap_or_default();
    let took = duration::show(Duration::from_millis(report.duration_ms));
    let cost = report.cost_nano_usd.map_or_else(|| "unknown".to_owned(), |cost| cost.to_string());
    vec![report.id.to_string(), model, result, took, report.tokens.to_string(), cost]
}

fn stage_row(report: &StageReport) -> Vec<String> {
    let dispatch = &report.dispatch;
    let what = match report.stage {
        Stage::Routed => "routed",
        Stage::Structured => "structured",
        Stage::Quota => "used up",
    };
    let result = match &dispatch.error {
        _ if !report.faults.is_empty() => "WRONG".to_owned(),
        Some(error) => format!("{} (expected)", error.class),
        None => match report.refused_values().count() {
            0 => "ok".to_owned(),
            refused => format!("ok, at try {}", refused + 1),
        },
    };
    let took = duration::show(Duration::from_millis(dispatch.duration_ms));
    let cost = Nano::from_usd(dispatch.cost_usd).map_or_else(|| "unknown".to_owned(), |cost| cost.to_string());
    vec![what.into(), dispatch.model.to_string(), result, took, dispatch.usage.total().to_string(), cost]
}

pub fn closing(report: &DemoReport) -> Vec<String> {
    let cost = &report.cost;
    let took = duration::show(Duration::from_millis(report.duration_ms));
    let bill = if cost.equal {
        format!(
            "{} for {} requests at the scripted prices.\n\
             The cost equals the provider's own ledger, to the nano-dollar.",
            cost.reported_nano_usd, cost.provider_requests
        )
    } else {
        format!(
            "WRONG: {} nano-dollars were reported, but the provider's own ledger says {}.",
            cost.reported_nano_usd.0, cost.ledger_nano_usd.0
        )
    };
    let (main, tasks) = (&report.main, &report.tasks);
    let delivered = if main.faults.is_empty() {
        format!(
            "{} has the work of all {} tasks; it is verified there, and the checkout is clean.",
            main.branch,
            tasks.len()
        )
    } else {
        format!("WRONG: {}.", main.faults.join("; "))
    };
    let faults = report.stages.iter().map(|stage| &stage.faults).chain(tasks.iter().map(|task| &task.faults));
    let faults = faults.chain([&main.faults]).filter(|faults| !faults.is_empty()).count();
    let verdict = match faults {
        0 if report.ok => "All as it should be",
        0 => "The work is right, but the costs are WRONG",
        _ => "Not all went as it should",
    };
    let next: &[&str] = if report.ok {
        &["Next, with your own models:", "  shuntyard doctor", "  shuntyard dispatch --task-type code-review @main.rs"]
    } else {
        &["Next, to find the cause:", "  shuntyard doctor"]
    };
    let ended = format!("{verdict}, in {took}. What ran is ended, and the scratch files are gone.");
    let wrong = tasks.iter().flat_map(|task| task.faults.iter().map(|fault| format!("WRONG: {}: {fault}", task.id)));
    wrong.chain([delivered, bill, ended, String::new()]).chain(next.iter().map(|line| (*line).to_owned())).collect()
}
