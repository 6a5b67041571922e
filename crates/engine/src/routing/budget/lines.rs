//! The limits that concern a request, with what counts against each now.

use crate::{Context, base::refusal::Refusal};
use shuntyard_core::{
    Nano,
    limits::{Billing, Key, Kind, Line, Unit},
};
use shuntyard_host::{
    clock::now_micros,
    day::{BadDay, DayClock},
};
use shuntyard_store::{BudgetPeriod, BudgetRule, Measure, bucket};

/// Whose limits are looked at. Providers and tiers are all looked at, because a choice is still to be made.
#[derive(Debug, Clone, Copy, Default)]
pub struct Concern<'a> {
    pub task: Option<&'a str>,
    pub batch: Option<&'a str>,
    /// Those of every task and batch, for a report of all.
    pub everybody: bool,
}

impl Concern<'_> {
    fn includes(&self, key: &Key) -> bool {
        match key.kind {
            Kind::Overall | Kind::Provider | Kind::Tier => true,
            Kind::Batch | Kind::Task if self.everybody => true,
            Kind::Batch => self.batch == Some(key.name.as_str()),
            Kind::Task => self.task == Some(key.name.as_str()),
        }
    }
}

/// Where days begin, by the configuration.
pub fn day_clock(context: &Context) -> Result<DayClock, BadDay> {
    DayClock::new(&context.config.budget.time_zone, &context.config.budget.day_starts_at)
}

/// All limits of concern, those of rules before those of periods.
pub async fn lines(context: &Context, concern: Concern<'_>) -> Result<Vec<Line>, Refusal> {
    // One after the other: a second connection to the store would take longer than both.
    let (rules, periods) = (context.store.budget_rules().await?, context.store.budget_periods().await?);
    if rules.is_empty() && periods.is_empty() {
        return Ok(Vec::new());
    }
    let now = now_micros();
    let day = day_clock(context).map_err(|error| Refusal::Configuration(format!("[budget]: {error}")))?.day_of(now);
    let rules = rules.iter().filter(|rule| concern.includes(&rule.key));
    let mut lines: Vec<Line> = rules.filter_map(|rule| of_rule(context, rule, (day.from, day.until))).collect();
    for period in periods.iter().filter(|period| is_active(period, now)) {
        let (from, until) = match period.rolling_micros {
            // The window ends with the bucket that is being filled.
            Some(length) => ((bucket(now).saturating_sub(length)).max(period.starts_at), i64::MAX),
            None => (period.starts_at, period.ends_at.unwrap_or(i64::MAX)),
        };
        lines.push(of_period(context, period, from, until));
    }
    count(context, &mut lines).await?;
    Ok(lines)
}

/// A limit that a task has for itself, whatever the rules say.
pub(crate) fn limit_of_task(context: &Context, task: &str, limit: Nano) -> Line {
    Line {
        key: Key::new(Kind::Task, task),
        billing: Billing::Token,
        period: None,
        unit: Unit::Usd,
        limit: limit.0,
        from: 0,
        until: i64::MAX,
        degrade_percent: 100,
        stop_percent: 100,
        unknown_allowed: context.config.budget.unknown_allowed,
        settled: 0,
        reserved: 0,
        unknown: 0,
    }
}

fn is_active(period: &BudgetPeriod, now: i64) -> bool {
    period.starts_at <= now && period.ends_at.is_none_or(|ends| now < ends)
}

fn of_rule(context: &Context, rule: &BudgetRule, (from, until): (i64, i64)) -> Option<Line> {
    let settings = &context.config.budget;
    let (from, until) = if matches!(rule.key.kind, Kind::Batch | Kind::Task) { (0, i64::MAX) } else { (from, until) };
    Some(Line {
        key: rule.key.clone(),
        billing: rule.billing,
        period: None,
        unit: Unit::Usd,
        limit: rule.daily?.0,
        from,
        until,
        degrade_percent: rule.degrade_percent.unwrap_or(settings.degrade_percent),
        stop_percent: rule.stop_percent.unwrap_or(settings.stop_percent),
        unknown_allowed: rule.unknown_allowed.unwrap_or(settings.unknown_allowed),
        settled: 0,
        reserved: 0,
        unknown: 0,
    })
}

fn of_period(context: &Context, period: &BudgetPeriod, from: i64, until: i64) -> Line {
    Line {
        key: Key::new(Kind::Provider, period.provider.clone()),
        billing: Billing::Subscription,
        period: Some(period.id),
        unit: period.unit,
        limit: period.allowance,
        from,
        until,
        degrade_percent: context.config.budget.warn_percent,
        stop_percent: context.config.budget.out_percent,
        unknown_allowed: context.config.budget.unknown_allowed,
        settled: 0,
        reserved: 0,
        unknown: 0,
    }
}

/// Fills in what counts against each.
async fn count(context: &Context, lines: &mut [Line]) -> Result<(), Refusal> {
    let wanted: Vec<(Key, i64, i64)> =
        lines.iter().map(|line| (line.key.clone(), bucket(line.from), line.until)).collect();
    let standings = context.store.standings(&wanted).await?;
    for (line, (spent, reserved)) in lines.iter_mut().zip(standings) {
        let measure = measure_of(line.unit);
        line.settled = spent.measured(measure);
        line.reserved = reserved.measured(measure);
        line.unknown = spent.unknown;
    }
    Ok(())
}

pub(super) fn measure_of(unit: Unit) -> Measure {
    match unit {
        Unit::Usd => Measure::Cost,
        Unit::Requests => Measure::Attempts,
        Unit::Tokens => Measure::Tokens,
    }
}
