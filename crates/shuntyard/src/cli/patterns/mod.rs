//! `shuntyard patterns`: recorded outcomes of kinds of tasks, tiers and models, and what follows from them. Reading
//! changes nothing; only `record` does.

mod analyze;
mod cells;
mod drift;
mod export;
mod fields;
mod findings;
pub mod recommend;
mod record;
pub mod report;
mod show;
mod stats;
pub mod suggest;

use super::Global;
use crate::{failure::Failure, ui};
use clap::{Args, Subcommand};
use shuntyard_core::{settings::Config, values::duration};
use shuntyard_engine::{
    Context,
    routing::{budget::day_clock, experience},
};
use shuntyard_host::day::DayClock;
use std::{process::ExitCode, time::Duration};

#[derive(Debug, Subcommand)]
pub enum PatternsCommand {
    /// Enter how a piece of work ended, or judge an earlier dispatch
    Record(Box<record::RecordArgs>),
    /// Say which tier has shown that it can do a kind of task: exit 0; or why none is recommended: exit 1
    Recommend(recommend::RecommendArgs),
    /// Find similar tasks of the past, and what was done with them
    Suggest(suggest::SuggestArgs),
    /// Show the counts of each kind of task and model
    Stats(WindowArgs),
    /// Say what stands out, as far as the numbers carry it
    Analyze(WindowArgs),
    /// Show everything: the counts, what is recommended, what stands out, and drift
    Report(SinceArgs),
    /// Write out all outcomes
    Export(export::ExportArgs),
    /// Show how much work ends in another tier than the one that was asked for
    Drift(drift::DriftArgs),
}

/// Which outcomes are looked at.
#[derive(Debug, Args)]
pub struct WindowArgs {
    /// Only this kind of task
    #[arg(long, value_name = "TYPE")]
    task_type: Option<String>,
    #[command(flatten)]
    since: SinceArgs,
}

#[derive(Debug, Default, Args)]
pub struct SinceArgs {
    /// How far back to look, like 30d or 12h; counts are kept by the week, so whole weeks are looked at
    #[arg(long, value_name = "DURATION", value_parser = length)]
    since: Option<Duration>,
}

impl SinceArgs {
    /// The beginning of the window; what still counts, when none is given.
    fn from(&self, config: &Config, now: i64) -> i64 {
        self.since.map_or_else(|| experience::since(config, now), |length| before(now, length))
    }
}

fn length(text: &str) -> Result<Duration, String> {
    duration::parse(text).map_err(|error| error.to_string())
}

fn before(now: i64, length: Duration) -> i64 {
    now.saturating_sub(i64::try_from(length.as_micros()).unwrap_or(i64::MAX))
}

/// The beginning of a window in JSON; nothing when it has none.
fn from_ms(from: i64) -> Option<i64> {
    (from != i64::MIN).then_some(from / 1000)
}

pub async fn run(global: &Global, command: &PatternsCommand) -> Result<ExitCode, Failure> {
    match command {
        PatternsCommand::Record(args) => record::record(global, args).await,
        PatternsCommand::Recommend(args) => recommend::recommend(global, args).await,
        PatternsCommand::Suggest(args) => suggest::suggest(global, args).await,
        PatternsCommand::Stats(args) => stats::stats(global, args).await,
        PatternsCommand::Analyze(args) => analyze::analyze(global, args).await,
        PatternsCommand::Report(args) => report::report(global, args).await,
        PatternsCommand::Export(args) => export::export(global, args).await,
        PatternsCommand::Drift(args) => drift::drift(global, args).await,
    }
}

fn clock(context: &Context) -> Result<DayClock, Failure> {
    day_clock(context).map_err(|error| Failure::configuration(format!("[budget]: {error}")))
}

/// How to record the first outcomes, for users without any.
fn tell_how_to_begin() {
    ui::note(
        "every dispatch is remembered by itself; to enter one: \
         shuntyard patterns record --task-type code-review --model PROVIDER/MODEL --outcome success",
    );
}

#[cfg(test)]
mod tests;
