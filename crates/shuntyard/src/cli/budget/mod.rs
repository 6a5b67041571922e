//! `shuntyard budget`: limits, how far they are used, and what was spent on what.

mod burn;
mod report;
mod rules;
mod status;

use super::{Global, input};
use crate::failure::Failure;
use clap::{Args, Subcommand};
use shuntyard_core::{
    Nano,
    limits::{Billing, Key, Kind, Unit},
};
use shuntyard_engine::{Context, routing::budget::day_clock};
use shuntyard_host::day::DayClock;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum BudgetCommand {
    /// Set a limit for a provider, a tier, a batch, a task or everything; what is not given stays
    Configure(rules::ConfigureArgs),
    /// Enter an allowance that is paid for, from a day to another
    Period(rules::PeriodArgs),
    /// Show every limit and how far it is used
    Status(status::StatusArgs),
    /// Say by the exit code how a provider stands: 0 fine, 1 degraded, 2 exhausted
    Check(status::CheckArgs),
    /// Show where each tier would go under the budget, here and now
    Recommend(status::RecommendArgs),
    /// Show how fast each provider spends and each limit is used, and when it will be used up
    BurnRate(status::StatusArgs),
    /// Enter an amount that was spent elsewhere
    Record(rules::RecordArgs),
    /// Show what was spent, by provider, tier, model, task, batch or day
    Report(report::ReportArgs),
}

/// Whose limit is meant.
#[derive(Debug, Clone, Args)]
pub struct Whose {
    /// The provider
    provider: Option<String>,
    /// A tier instead of a provider
    #[arg(long, value_name = "TIER", conflicts_with_all = ["provider", "batch", "task", "overall"])]
    tier: Option<String>,
    /// A batch instead of a provider; its limit is for all time
    #[arg(long, value_name = "BATCH", conflicts_with_all = ["provider", "task", "overall"])]
    batch: Option<String>,
    /// A task instead of a provider; its limit is for all time
    #[arg(long, value_name = "TASK", conflicts_with_all = ["provider", "overall"])]
    task: Option<String>,
    /// Everything together
    #[arg(long, conflicts_with = "provider")]
    overall: bool,
}

impl Whose {
    fn key(&self, context: &Context) -> Result<Key, Failure> {
        let named = [
            (Kind::Provider, &self.provider),
            (Kind::Tier, &self.tier),
            (Kind::Batch, &self.batch),
            (Kind::Task, &self.task),
        ];
        let found = named.into_iter().find_map(|(kind, name)| Some((kind, name.as_deref()?)));
        match found {
            Some((Kind::Tier, name)) => match context.config.tier_named(name) {
                Some(tier) => Ok(Key::new(Kind::Tier, tier)),
                None => Err(Failure::usage(format!("there is no tier `{name}`"), "see `shuntyard tiers`")),
            },
            Some((_, "")) => Err(Failure::usage("the name is empty", "name a provider, or use --overall")),
            Some((kind, name)) => Ok(Key::new(kind, name)),
            None if self.overall => Ok(Key::overall()),
            None => {
                Err(Failure::usage("nobody is named", "name a provider, or use --tier, --batch, --task or --overall"))
            }
        }
    }
}

pub async fn run(global: &Global, command: &BudgetCommand) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let format = global.format();
    match command {
        BudgetCommand::Configure(args) => rules::configure(&context, format, args).await,
        BudgetCommand::Period(args) => rules::period(&context, format, args).await,
        BudgetCommand::Record(args) => rules::record(&context, format, args).await,
        BudgetCommand::Status(args) => status::status(&context, format, args).await,
        BudgetCommand::Check(args) => status::check(&context, format, args).await,
        BudgetCommand::Recommend(args) => status::recommend(&context, format, args).await,
        BudgetCommand::BurnRate(args) => burn::burn_rate(&context, format, args).await,
        BudgetCommand::Report(args) => report::report(&context, format, args).await,
    }
}

fn clock(context: &Context) -> Result<DayClock, Failure> {
    day_clock(context).map_err(|error| Failure::configuration(format!("[budget]: {error}")))
}

fn billing(text: &str) -> Result<Billing, String> {
    Billing::parse(text).ok_or_else(|| format!("`{text}` is no billing type: token or subscription"))
}

fn unit(text: &str) -> Result<Unit, String> {
    Unit::parse(text).ok_or_else(|| format!("`{text}` is no unit: usd, requests or tokens"))
}

fn dollars(text: &str) -> Result<Nano, String> {
    input::dollars(text)
}
