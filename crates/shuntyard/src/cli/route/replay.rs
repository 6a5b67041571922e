//! `shuntyard route replay`: the recorded past under another configuration.

use super::super::{Global, input};
use crate::{
    failure::Failure,
    settings::Settings,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::{
    experience::{Replay, Share},
    values::duration,
};
use shuntyard_engine::routing::experience::replay_past;
use shuntyard_host::clock::now_micros;
use std::{path::PathBuf, process::ExitCode, time::Duration};

#[derive(Debug, Args)]
#[command(after_help = "\
The file has settings like config.toml and is laid over your own, for example

  [task_types]
  code-review = \"haiku\"

Only first attempts are counted; the kinds of tasks are those that were recognised then, and today's models are
taken. Limits, outages and experience do not interfere: two sets of tables are compared.")]
pub struct ReplayArgs {
    /// Settings to lay over your own
    #[arg(long, value_name = "FILE")]
    policy: PathBuf,
    /// How far back to look, like 7d or 12h
    #[arg(long, value_name = "DURATION", default_value = "30d", value_parser = duration::parse)]
    since: Duration,
    /// Changes that are shown, the most frequent first
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: usize,
}

pub async fn run(global: &Global, args: &ReplayArgs) -> Result<ExitCode, Failure> {
    let policy = Settings::under_policy(&global.overrides(), &args.policy)?;
    let context = global.context().await?;
    let directory = input::directory(None)?;
    let now = now_micros();
    let back = i64::try_from(args.since.as_micros()).unwrap_or(i64::MAX);
    let replayed = replay_past(&context, &policy.config, &directory, now.saturating_sub(back), i64::MAX).await?;
    match global.format() {
        Format::Json => {
            let file = args.policy.display().to_string();
            ui::json(&json!({ "policy": file, "since": duration::show(args.since), "replay": replayed }));
        }
        Format::People => show(&replayed, args),
    }
    Ok(ExitCode::SUCCESS)
}

fn show(replayed: &Replay, args: &ReplayArgs) {
    let all = replayed.same.runs + replayed.changed.runs + replayed.unknown.runs;
    if all == 0 {
        ui::note("nothing was recorded in that time; every dispatch records its outcome by itself");
        return;
    }
    let rows = [
        ("the same model: known from the log", &replayed.same),
        ("another model, estimated by its own record", &replayed.changed),
        ("another model or none: not in the log", &replayed.unknown),
    ];
    let rows: Vec<Vec<String>> = rows.into_iter().map(|(name, share)| row(name, share)).collect();
    ui::result(&ui::table(&["RUNS OF THE PAST", "RUNS", "COST", "SUCCESS", "COST THEN", "SUCCESS THEN"], &rows));
    if !replayed.changes.is_empty() {
        let changes = replayed.changes.iter().take(args.limit).map(|change| {
            let kind = if change.task_type.is_empty() { "?" } else { &change.task_type };
            let to = change.to.as_deref().unwrap_or("nobody");
            vec![kind.to_owned(), change.runs.to_string(), change.from.clone(), to.to_owned(), change.why.clone()]
        });
        let changes: Vec<Vec<String>> = changes.collect();
        ui::result(&format!("\n{}", ui::table(&["TASK TYPE", "RUNS", "FROM", "TO", "HOW IT IS KNOWN"], &changes)));
    }
    if replayed.unknown.runs > 0 {
        ui::note(&format!(
            "of {} of {all} runs the log cannot say what they would have come to; nothing is guessed for them",
            replayed.unknown.runs
        ));
    }
}

fn row(name: &str, share: &Share) -> Vec<String> {
    let percent = |value: Option<f64>| value.map_or("?".to_owned(), |value| format!("{value:.1} %"));
    let cost = |value: Option<f64>| value.map_or("?".to_owned(), |value| format!("${value:.4}"));
    vec![
        name.to_owned(),
        share.runs.to_string(),
        cost(Some(share.cost_usd)),
        percent(share.success_percent),
        cost(share.policy_cost_usd),
        percent(share.policy_success_percent),
    ]
}
