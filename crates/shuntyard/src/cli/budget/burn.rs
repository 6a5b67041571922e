//! How fast money, requests and tokens are used, with a limit or without one.

use super::{clock, status::StatusArgs};
use crate::{
    failure::Failure,
    ui::{self, Format},
};
use serde_json::{Value, json};
use shuntyard_core::limits::{BurnRate, Key, Kind, Line, Rate, Unit, burn_rate as rate_of};
use shuntyard_engine::Context;
use shuntyard_host::{
    clock::now_micros,
    day::{Day, DayClock},
};
use shuntyard_store::{GroupBy, Measure, Spent, bucket};
use std::process::ExitCode;

/// Full days that the mean is taken over.
const MEAN_DAYS: u32 = 7;
const NO_LIMIT: &str = "no limit";

/// One row: the limit, its use since when, and what is left of it.
struct Use {
    key: Key,
    unit: Unit,
    spent: i64,
    from: i64,
    until: i64,
    left: Option<i64>,
}

pub async fn burn_rate(context: &Context, format: Format, args: &StatusArgs) -> Result<ExitCode, Failure> {
    let clock = clock(context)?;
    let now = now_micros();
    let week = clock.days_before(now, i64::from(MEAN_DAYS));
    let mut rows = Vec::new();
    let mut documents = Vec::new();
    for row in uses(context, args, &clock, &week, now).await? {
        // Tasks and batches have no sums by time, so their own attempts are asked.
        let (_, earlier) = context.store.charged(&row.key, bucket(week.from), bucket(week.until)).await?;
        let earlier = (measured(row.unit, &earlier), MEAN_DAYS);
        let rate = rate_of(row.spent, (row.from, row.until), now, row.left, earlier);
        rows.push(vec![
            row.key.to_string(),
            row.unit.show_rate(rate.per_hour),
            row.unit.show_rate(rate.daily_mean),
            row.left.map_or_else(|| NO_LIMIT.to_owned(), |left| row.unit.show(left)),
            used_up(&rate, row.left, now, &clock),
        ]);
        documents.push(json!({"key": row.key, "unit": row.unit, "per_hour": number(row.unit, rate.per_hour),
            "daily_mean_7d": number(row.unit, rate.daily_mean), "left": row.left, "from_ms": row.from / 1000,
            "exhausted_at_ms": rate.exhausted_at.map(|at| at / 1000), "before_the_end": rate.before_the_end,
            "time_zone": context.config.budget.time_zone}));
    }
    match format {
        Format::Json => ui::json(&json!({"rates": documents})),
        Format::People if rows.is_empty() => ui::note("no limit is set, and nothing was spent in the last seven days"),
        Format::People => {
            ui::result(&ui::table(&["WHOSE", "AN HOUR", "A DAY (7-DAY MEAN)", "LEFT", "USED UP"], &rows));
            ui::note(&format!(
                "days begin at {} ({})",
                context.config.budget.day_starts_at, context.config.budget.time_zone
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The limits, and the providers without one that have spent something recently.
async fn uses(
    context: &Context,
    args: &StatusArgs,
    clock: &DayClock,
    week: &Day,
    now: i64,
) -> Result<Vec<Use>, Failure> {
    let mut uses = Vec::new();
    for line in args.lines(context).await? {
        let from = began(context, &line, week).await?;
        let left = Some(line.left());
        uses.push(Use { unit: line.unit, spent: line.settled, from, until: line.until, left, key: line.key });
    }
    let today = clock.day_of(now);
    for (provider, _) in context.store.spending(bucket(week.from), i64::MAX, GroupBy::Provider).await? {
        let key = Key::new(Kind::Provider, provider);
        if !args.shows(&key.name) || uses.iter().any(|known| known.key == key) {
            continue;
        }
        let spent = context.store.spent(&key, bucket(today.from), i64::MAX).await?.cost.0;
        uses.push(Use { key, unit: Unit::Usd, spent, from: today.from, until: today.until, left: None });
    }
    Ok(uses)
}

/// When the spending began that a line is about. A task or a batch has no window, so it is the first time that it
/// spent anything; what is older than the log counts as spread over the days of the mean.
async fn began(context: &Context, line: &Line, week: &Day) -> Result<i64, Failure> {
    match line.key.kind {
        Kind::Overall | Kind::Provider | Kind::Tier => Ok(line.from),
        Kind::Batch | Kind::Task => {
            let (first, _) = context.store.charged(&line.key, 0, 0).await?;
            Ok(first.unwrap_or(week.from))
        }
    }
}

fn measured(unit: Unit, spent: &Spent) -> i64 {
    spent.measured(match unit {
        Unit::Usd => Measure::Cost,
        Unit::Requests => Measure::Attempts,
        Unit::Tokens => Measure::Tokens,
    })
}

/// Nano-dollars are whole; less than one request an hour is not none.
fn number(unit: Unit, rate: Rate) -> Value {
    match unit {
        Unit::Usd => json!(rate.whole()),
        Unit::Requests | Unit::Tokens => json!(rate.as_f64()),
    }
}

fn used_up(rate: &BurnRate, left: Option<i64>, now: i64, clock: &DayClock) -> String {
    match rate.exhausted_at {
        None if left.is_none() => "–".to_owned(),
        None => "not at this rate".to_owned(),
        Some(at) if at <= now => "now".to_owned(),
        Some(at) if rate.before_the_end => clock.show(at),
        Some(_) => "not before it begins anew".to_owned(),
    }
}
