//! How much work ends in another tier than the one that was asked for.

use super::{Global, before, length, show, tell_how_to_begin};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::experience::{Drift, DriftLevel, Moves, drift as count};
use shuntyard_engine::Context;
use shuntyard_host::clock::now_micros;
use std::{process::ExitCode, time::Duration};

/// The period that is compared unless a flag sets another one.
const WEEK: Duration = Duration::from_secs(7 * 86_400);

#[derive(Debug, Args)]
pub struct DriftArgs {
    /// How far back to look, like 30d or 12h
    #[arg(long, value_name = "DURATION", value_parser = length, default_value = "7d")]
    since: Duration,
}

/// The drift of a window, with where that begins.
#[derive(Debug)]
pub struct Found {
    from: i64,
    drift: Drift,
}

pub async fn drift(global: &Global, args: &DriftArgs) -> Result<ExitCode, Failure> {
    let context = &global.context().await?;
    let found = find(context, Some(args.since)).await?;
    match global.format() {
        Format::Json => ui::json(&found.document()),
        Format::People if found.is_empty() => {
            ui::note("nothing ran in a tier in that time");
            tell_how_to_begin();
        }
        Format::People => found.show(),
    }
    Ok(ExitCode::SUCCESS)
}

pub async fn find(context: &Context, since: Option<Duration>) -> Result<Found, Failure> {
    let from = before(now_micros(), since.unwrap_or(WEEK));
    let moves = context.store.tier_moves(from, i64::MAX).await?;
    let settings = &context.config.patterns;
    Ok(Found { from, drift: count(&moves, settings.drift_notice_percent, settings.drift_warning_percent) })
}

impl Found {
    pub fn is_empty(&self) -> bool {
        self.drift.runs == 0
    }

    pub fn document(&self) -> Value {
        let mut document = json!(self.drift);
        document["from_ms"] = json!(self.from / 1000);
        document
    }

    pub fn show(&self) {
        let rows: Vec<Vec<String>> = self.drift.tiers.iter().map(row).collect();
        ui::result(&ui::table(&["ASKED FOR", "RUNS", "MOVED", "DRIFT", "LEVEL", "WENT TO"], &rows));
        let Drift { level, runs, moved, drift_percent, .. } = &self.drift;
        let share = show::percent(*drift_percent);
        ui::result(&format!("\nin all: {moved} of {runs} runs moved to another tier ({share}): {}", word(*level)));
        if *level > DriftLevel::None {
            ui::note("why work moves: shuntyard budget status, shuntyard providers, shuntyard fallback");
        }
    }
}

fn row(moves: &Moves) -> Vec<String> {
    let to: Vec<String> = moves.to.iter().map(|to| format!("{} {}", show::name(&to.tier), to.runs)).collect();
    vec![
        show::name(&moves.asked),
        moves.runs.to_string(),
        moves.moved.to_string(),
        show::percent(moves.drift_percent),
        word(moves.level).to_owned(),
        to.join(", "),
    ]
}

fn word(level: DriftLevel) -> &'static str {
    match level {
        DriftLevel::None => "fine",
        DriftLevel::Notice => "notice",
        DriftLevel::Warning => "warning",
    }
}
