//! How far limits are used, how fast, and what follows from it.

use super::{clock, report::note_unknown};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::{Value, json};
use shuntyard_core::{
    Nano,
    limits::{Kind, Level, Line, Unit},
    routing::{Needs, Selector, resolve},
    values::duration,
};
use shuntyard_engine::{
    Context,
    routing::{
        budget::{Concern, lines},
        catalogue::Refresh,
        choose::gather_inputs,
    },
};
use shuntyard_host::day::DayClock;
use shuntyard_store::BudgetPeriod;
use std::{process::ExitCode, time::Duration};

#[derive(Debug, Args)]
pub struct StatusArgs {
    /// Only this provider
    provider: Option<String>,
    /// A batch whose limit is shown as well
    #[arg(long, value_name = "BATCH")]
    batch: Option<String>,
    /// A task whose limit is shown as well
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
}

impl StatusArgs {
    /// Whether a row about this provider is wanted.
    pub(super) fn shows(&self, provider: &str) -> bool {
        self.provider.as_ref().is_none_or(|wanted| wanted == provider)
    }

    pub(super) async fn lines(&self, context: &Context) -> Result<Vec<Line>, Failure> {
        let concern = Concern {
            task: self.task.as_deref(),
            batch: self.batch.as_deref(),
            // A named task or batch is shown alone.
            everybody: self.task.is_none() && self.batch.is_none(),
        };
        let mut found = lines(context, concern).await?;
        if let Some(provider) = &self.provider {
            found.retain(|line| line.key.kind == Kind::Provider && line.key.name == *provider);
        }
        Ok(found)
    }
}

#[derive(Debug, Args)]
pub struct CheckArgs {
    /// The provider
    provider: String,
    /// A tier whose limit counts as well
    #[arg(long, value_name = "TIER")]
    tier: Option<String>,
}

#[derive(Debug, Args)]
pub struct RecommendArgs {
    /// Only this tier
    #[arg(long, value_name = "TIER")]
    tier: Option<String>,
}

fn document(line: &Line) -> Value {
    let usd = |amount: i64| (line.unit == Unit::Usd).then(|| Nano(amount).as_usd());
    json!({"key": line.key, "billing_type": line.billing, "period_id": line.period, "unit": line.unit, "limit": line.limit,
        "limit_usd": usd(line.limit), "settled": line.settled, "settled_usd": usd(line.settled),
        "reserved": line.reserved, "reserved_usd": usd(line.reserved), "left": line.left(), "left_usd": usd(line.left()),
        "percent": line.percent(), "level": line.level(), "unknown_costs": line.unknown,
        "degrade_percent": line.degrade_percent, "stop_percent": line.stop_percent,
        "from_ms": (line.from != 0).then_some(line.from / 1000), "until_ms": (line.until != i64::MAX).then_some(line.until / 1000)})
}

fn worst(lines: &[Line]) -> Level {
    lines.iter().map(Line::level).max().unwrap_or(Level::Fine)
}

fn word(level: Level) -> &'static str {
    match level {
        Level::Fine => "fine",
        Level::Degraded => "degraded",
        Level::Exhausted => "exhausted",
    }
}

pub async fn status(context: &Context, format: Format, args: &StatusArgs) -> Result<ExitCode, Failure> {
    let found = args.lines(context).await?;
    let mut periods = context.store.budget_periods().await?;
    periods.retain(|period| args.provider.as_ref().is_none_or(|wanted| *wanted == period.provider));
    match format {
        Format::Json => {
            let lines: Vec<Value> = found.iter().map(document).collect();
            let periods: Vec<Value> = periods.iter().map(period_document).collect();
            ui::json(&json!({"lines": lines, "level": worst(&found), "periods": periods}));
        }
        Format::People => {
            let clock = clock(context)?;
            show(&found, &clock);
            show_periods(&periods, &clock);
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn period_document(period: &BudgetPeriod) -> Value {
    json!({"id": period.id, "provider": period.provider, "unit": period.unit, "allowance": period.allowance,
        "from_ms": period.starts_at / 1000, "until_ms": period.ends_at.map(|ends| ends / 1000),
        "rolling_ms": period.rolling_micros.map(|length| length / 1000)})
}

fn show_periods(periods: &[BudgetPeriod], clock: &DayClock) {
    if periods.is_empty() {
        return;
    }
    let rows: Vec<Vec<String>> = periods
        .iter()
        .map(|period| {
            let length = |micros: i64| Duration::from_micros(u64::try_from(micros).unwrap_or_default());
            let each = period
                .rolling_micros
                .map_or_else(String::new, |micros| format!(" in any {}", duration::show(length(micros))));
            vec![
                period.id.to_string(),
                period.provider.clone(),
                format!("{}{each}", period.unit.show(period.allowance)),
                clock.show(period.starts_at),
                period.ends_at.map_or_else(|| "–".to_owned(), |ends| clock.show(ends)),
            ]
        })
        .collect();
    ui::result(&format!("\n{}", ui::table(&["PERIOD", "PROVIDER", "ALLOWANCE", "FROM", "UNTIL"], &rows)));
}

fn show(lines: &[Line], clock: &DayClock) {
    if lines.is_empty() {
        ui::note("no limit is set; for example: shuntyard budget configure anthropic --daily-budget 20");
        return;
    }
    let rows: Vec<Vec<String>> = lines
        .iter()
        .map(|line| {
            let until = if line.until == i64::MAX { "–".to_owned() } else { clock.show(line.until) };
            let aside = if line.reserved > 0 {
                format!(" + {} reserved", line.unit.show(line.reserved))
            } else {
                String::new()
            };
            let unknown = if line.unknown > 0 { format!(" ({} of unknown cost)", line.unknown) } else { String::new() };
            vec![
                line.key.to_string(),
                line.unit.show(line.limit),
                format!("{}{aside}{unknown}", line.unit.show(line.settled)),
                format!("{} %", line.percent()),
                word(line.level()).to_owned(),
                until,
            ]
        })
        .collect();
    ui::result(&ui::table(&["WHOSE", "LIMIT", "USED", "", "LEVEL", "UNTIL"], &rows));
    note_unknown(lines.iter().map(|line| line.unknown).sum());
}

pub async fn check(context: &Context, format: Format, args: &CheckArgs) -> Result<ExitCode, Failure> {
    let mut found = lines(context, Concern::default()).await?;
    let tier = match args.tier.as_deref().map(|name| (name, context.config.tier_named(name))) {
        Some((name, None)) => {
            return Err(Failure::usage(format!("there is no tier `{name}`"), "see `shuntyard tiers`"));
        }
        known => known.and_then(|(_, tier)| tier),
    };
    found.retain(|line| match line.key.kind {
        Kind::Overall => true,
        Kind::Provider => line.key.name == args.provider,
        Kind::Tier => tier == Some(line.key.name.as_str()),
        Kind::Batch | Kind::Task => false,
    });
    let level = worst(&found);
    match format {
        Format::Json => {
            let lines: Vec<Value> = found.iter().map(document).collect();
            ui::json(&json!({"provider": args.provider, "level": level, "exit": level as u8, "lines": lines}));
        }
        Format::People => {
            let why: Vec<String> = found.iter().filter(|line| line.level() == level).map(Line::told).collect();
            let why = if why.is_empty() { "no limit is set".to_owned() } else { why.join("; ") };
            ui::result(&format!("{}: {} ({why})", args.provider, word(level)));
        }
    }
    Ok(ExitCode::from(level as u8))
}

pub async fn recommend(context: &Context, format: Format, args: &RecommendArgs) -> Result<ExitCode, Failure> {
    let directory = super::super::input::directory(None)?;
    let around = gather_inputs(context, &directory, Refresh::IfStale).await?;
    let tiers: Vec<String> = match &args.tier {
        Some(name) => match context.config.tier_named(name) {
            Some(tier) => vec![tier.to_owned()],
            None => return Err(Failure::usage(format!("there is no tier `{name}`"), "see `shuntyard tiers`")),
        },
        None => super::super::tables::tier_names(&context.config).into_iter().cloned().collect(),
    };
    let mut rows = Vec::new();
    let mut documents = Vec::new();
    for tier in tiers {
        let selector = Selector::Tier(tier.clone());
        match resolve(&around.question(context, &selector, Needs::default())) {
            Ok(found) => {
                let used = found.tier.clone().unwrap_or_default();
                rows.push(vec![tier.clone(), used.clone(), found.model.to_string(), found.reason.clone()]);
                documents
                    .push(json!({"tier": tier, "use": used, "model": found.model.to_string(), "reason": found.reason}));
            }
            Err(error) => {
                rows.push(vec![tier.clone(), String::new(), "none".into(), error.to_string()]);
                documents.push(json!({"tier": tier, "use": null, "model": null, "reason": error.to_string()}));
            }
        }
    }
    match format {
        Format::Json => ui::json(&json!({"tiers": documents})),
        Format::People => ui::result(&ui::table(&["TIER", "USE", "MODEL", "WHY"], &rows)),
    }
    Ok(ExitCode::SUCCESS)
}
