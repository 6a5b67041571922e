//! Setting limits and allowances, and entering what was spent elsewhere.

use super::{Whose, billing, clock, dollars, unit};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::{
    Nano,
    limits::{Billing, Kind, Unit},
    values::duration,
};
use shuntyard_engine::Context;
use shuntyard_host::clock::now_micros;
use shuntyard_store::{BudgetRule, ErrorKind, NewPeriod, NewSpend, Spent};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct ConfigureArgs {
    #[command(flatten)]
    whose: Whose,
    /// How it is paid: token or subscription
    #[arg(long, value_name = "TYPE", value_parser = billing)]
    billing_type: Option<Billing>,
    /// What may be spent in a day, in dollars (for a batch or a task: in all)
    #[arg(long, value_name = "USD", value_parser = dollars)]
    daily_budget: Option<Nano>,
    /// From how many percent cheaper models are used
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    degrade_percent: Option<u32>,
    /// From how many percent nothing more is spent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=100))]
    stop_percent: Option<u32>,
    /// Whether a model without a price may be used under it: true or false
    #[arg(long, value_name = "BOOL")]
    allow_unknown: Option<bool>,
    /// Remove the limit
    #[arg(long, conflicts_with_all = ["billing_type", "daily_budget", "degrade_percent", "stop_percent", "allow_unknown"])]
    remove: bool,
}

pub async fn configure(context: &Context, format: Format, args: &ConfigureArgs) -> Result<ExitCode, Failure> {
    let key = args.whose.key(context)?;
    let now = now_micros();
    if args.remove {
        let removed = context.store.remove_budget_rule(&key, now).await?;
        match format {
            Format::Json => ui::json(&json!({"key": key, "removed": removed})),
            Format::People => {
                ui::note(&if removed { format!("{key}: removed") } else { format!("{key} has no limit") })
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let known = context.store.budget_rules().await?.into_iter().find(|rule| rule.key == key);
    let mut rule = known.unwrap_or(BudgetRule {
        key,
        billing: Billing::Token,
        daily: None,
        degrade_percent: None,
        stop_percent: None,
        unknown_allowed: None,
        changed_at: now,
    });
    rule.changed_at = now;
    rule.billing = args.billing_type.unwrap_or(rule.billing);
    rule.daily = args.daily_budget.or(rule.daily);
    rule.degrade_percent = args.degrade_percent.or(rule.degrade_percent);
    rule.stop_percent = args.stop_percent.or(rule.stop_percent);
    rule.unknown_allowed = args.allow_unknown.or(rule.unknown_allowed);
    let settings = &context.config.budget;
    let degrade = rule.degrade_percent.unwrap_or(settings.degrade_percent);
    let stop = rule.stop_percent.unwrap_or(settings.stop_percent);
    if degrade > stop {
        return Err(Failure::usage(
            format!("cheaper models from {degrade} % and nothing from {stop} % do not go together"),
            "give --degrade-percent a smaller number than --stop-percent",
        ));
    }
    context.store.put_budget_rule(&rule).await?;
    let daily = rule.daily.map(Nano::as_usd);
    match format {
        Format::Json => ui::json(&json!({"key": rule.key, "billing_type": rule.billing, "daily_budget_usd": daily,
            "degrade_percent": rule.degrade_percent, "stop_percent": rule.stop_percent,
            "unknown_allowed": rule.unknown_allowed})),
        Format::People => {
            let daily = rule.daily.map_or_else(
                || "no daily limit".to_owned(),
                |daily| match rule.key.kind {
                    Kind::Batch | Kind::Task => format!("{daily} in all"),
                    Kind::Overall | Kind::Provider | Kind::Tier => format!("{daily} a day"),
                },
            );
            ui::result(&format!("{}: {}, {daily}", rule.key, rule.billing.as_str()));
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Debug, Args)]
pub struct PeriodArgs {
    /// The provider
    provider: String,
    /// The first day, like 2026-02-01
    #[arg(long, value_name = "DATE", required_unless_present = "remove")]
    start: Option<String>,
    /// The day on which it is over; none: until it is removed
    #[arg(long, value_name = "DATE")]
    end: Option<String>,
    /// How much is paid for
    #[arg(long, value_name = "N", required_unless_present = "remove")]
    allowance: Option<f64>,
    /// What it is counted in: usd, requests or tokens
    #[arg(long, value_name = "UNIT", value_parser = unit, default_value = "usd")]
    unit: Unit,
    /// The allowance is for each stretch of this length, like 5h or 7d, not for the whole period
    #[arg(long, value_name = "DURATION")]
    rolling: Option<String>,
    /// Remove the period with this number
    #[arg(long, value_name = "ID")]
    remove: Option<i64>,
}

pub async fn period(context: &Context, format: Format, args: &PeriodArgs) -> Result<ExitCode, Failure> {
    let now = now_micros();
    if let Some(id) = args.remove {
        let removed = context.store.remove_budget_period(id, now).await?;
        match format {
            Format::Json => ui::json(&json!({"id": id, "removed": removed})),
            Format::People => ui::note(if removed { "removed" } else { "there is no such period" }),
        }
        return Ok(ExitCode::SUCCESS);
    }
    if args.provider.trim().is_empty() {
        return Err(Failure::usage("the provider's name is empty", "name the provider that is paid"));
    }
    let clock = clock(context)?;
    let day = |text: &String| clock.parse(text).map_err(|error| Failure::usage(error, "for example 2026-02-01"));
    let starts_at = args.start.as_ref().map(day).transpose()?.unwrap_or_default();
    let ends_at = args.end.as_ref().map(day).transpose()?;
    if ends_at.is_some_and(|ends| ends <= starts_at) {
        return Err(Failure::usage("the period ends before it begins", "give --end a later day than --start"));
    }
    let rolling = args.rolling.as_deref().map(duration::parse).transpose();
    let rolling = rolling.map_err(|error| Failure::usage(error, "for example --rolling 5h"))?;
    if rolling.is_some_and(|length| length.is_zero()) {
        return Err(Failure::usage("a stretch of no length has no allowance", "for example --rolling 5h"));
    }
    let allowance = amount(args.allowance.unwrap_or_default(), args.unit)
        .ok_or_else(|| Failure::usage("the allowance is no amount of that unit", "for example --allowance 200"))?;
    let new = NewPeriod {
        provider: args.provider.clone(),
        starts_at,
        ends_at,
        unit: args.unit,
        allowance,
        rolling_micros: rolling.and_then(|length| i64::try_from(length.as_micros()).ok()),
        changed_at: now,
    };
    let id = match context.store.put_budget_period(&new).await {
        Ok(id) => id,
        Err(error) if error.kind() == ErrorKind::Conflict => {
            return Err(Failure::usage(error, "remove the other one first: see `shuntyard budget status`"));
        }
        Err(error) => return Err(error.into()),
    };
    match format {
        Format::Json => ui::json(&json!({"id": id, "provider": new.provider, "unit": new.unit})),
        Format::People => {
            let until = ends_at.map_or_else(|| "on".to_owned(), |ends| format!("until {}", clock.show(ends)));
            let what = args.unit.show(allowance);
            ui::result(&format!("period {id}: {what} at {} from {} {until}", new.provider, clock.show(starts_at)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// An allowance in what it is stored in.
fn amount(value: f64, unit: Unit) -> Option<i64> {
    if !value.is_finite() || value < 0.0 {
        return None;
    }
    match unit {
        Unit::Usd => Nano::from_usd(value).map(|nano| nano.0),
        #[expect(clippy::cast_possible_truncation, reason = "a count of requests or tokens is far below 2^53")]
        Unit::Requests | Unit::Tokens => (value < 9e15 && value.fract() == 0.0).then_some(value as i64),
    }
}

#[derive(Debug, Args)]
pub struct RecordArgs {
    /// The provider
    provider: String,
    /// What it cost, in dollars
    #[arg(long, value_name = "USD", value_parser = dollars, default_value = "0")]
    cost: Nano,
    /// The tokens
    #[arg(long, value_name = "N", default_value_t = 0)]
    tokens: u64,
    /// The requests
    #[arg(long, value_name = "N", default_value_t = 1)]
    requests: u64,
    /// The model, as provider/model
    #[arg(long, value_name = "P/M")]
    model: Option<String>,
    /// The tier
    #[arg(long, value_name = "TIER")]
    tier: Option<String>,
    /// The task
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// The batch
    #[arg(long, value_name = "BATCH")]
    batch: Option<String>,
}

pub async fn record(context: &Context, format: Format, args: &RecordArgs) -> Result<ExitCode, Failure> {
    if args.provider.is_empty() {
        return Err(Failure::usage("the provider's name is empty", "name the provider that was paid"));
    }
    let tier = match args.tier.as_deref().map(|name| (name, context.config.tier_named(name))) {
        Some((name, None)) => {
            return Err(Failure::usage(format!("there is no tier `{name}`"), "see `shuntyard tiers`"));
        }
        found => found.and_then(|(_, tier)| tier).map(str::to_owned),
    };
    let spend = NewSpend {
        at: now_micros(),
        provider: args.provider.clone(),
        model: args.model.clone().unwrap_or_default(),
        tier,
        task: args.task.clone(),
        batch: args.batch.clone(),
        spent: Spent { cost: args.cost, attempts: args.requests, unknown: 0, tokens: args.tokens },
    };
    context.store.record_spend(&spend).await?;
    match format {
        Format::Json => ui::json(&json!({"provider": spend.provider, "cost_usd": args.cost.as_usd()})),
        Format::People => ui::result(&format!("{}: {} recorded", spend.provider, args.cost)),
    }
    Ok(ExitCode::SUCCESS)
}
