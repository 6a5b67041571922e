//! What an attempt sets aside before it runs, and the ceilings that the store checks while it does so: whoever comes
//! second sees what the first has set aside.

use super::lines::{measure_of, unit_of};
use crate::Context;
use switchyard_core::{
    Nano,
    budget::{Estimate, History, Key, Kind, Line, Reserving, Unit, Urgency, estimate},
    dispatch::{Mode, Request},
    route::{Model, Resolution},
};
use switchyard_host::clock::now_micros;
use switchyard_store::{Ceiling, Reserve, bucket};

/// A week of this model's past in the same mode is what its next attempt is reckoned by.
const PAST_MICROS: i64 = 7 * 24 * 3600 * 1_000_000;

/// Why an attempt may not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OverBudget(pub(crate) String);

/// The attempt that is about to run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Planned<'a> {
    pub(crate) lines: &'a [Line],
    pub(crate) urgency: Urgency,
    pub(crate) request: &'a Request,
    pub(crate) resolution: &'a Resolution,
    pub(crate) model: &'a Model,
    /// What is left of the request's own limit.
    pub(crate) left: Option<Nano>,
    /// Steps that it may take.
    pub(crate) steps: u32,
}

/// What the attempt sets aside; `None` when no limit concerns it.
pub(crate) async fn reserve_for(context: &Context, planned: &Planned<'_>) -> Result<Option<Reserve>, OverBudget> {
    let Planned { lines, urgency, request, resolution, model, left, steps } = *planned;
    let concerned: Vec<&Line> = lines.iter().filter(|line| concerns(&line.key, resolution)).collect();
    if concerned.is_empty() && left.is_none() {
        return Ok(None);
    }
    let settings = &context.config.budget;
    let reserving = if settings.strict { Reserving::WorstCase } else { Reserving::Likely };
    let history = past(context, &resolution.model.to_string(), request.mode).await;
    let prompt = request.needs().context;
    let prompts = most_prompts(context, request, steps);
    let expected = estimate(model, prompt, settings.expected_output, prompts, history.as_ref(), reserving);
    let Estimate { cost, tokens, .. } = expected;
    let counts = |line: &&&Line| line.unit == Unit::Usd && !line.unknown_allowed;
    let held_by = concerned.iter().find(counts).map(|line| line.key.to_string());
    let held_by = held_by.or_else(|| left.filter(|_| !settings.unknown_allowed).map(|_| "--max-cost".to_owned()));
    if let (None, Some(limit), true) = (cost, held_by, urgency != Urgency::PastTheStop) {
        return Err(OverBudget(format!(
            "{} has no price, so it cannot be held to the limit of {limit}; `budget.unknown_allowed` would let it run",
            resolution.model
        )));
    }
    let cost = cost.unwrap_or_default();
    if let Some(left) = left.filter(|left| cost > *left) {
        return Err(OverBudget(format!(
            "{} would probably cost {cost}, and {left} is left of --max-cost",
            resolution.model
        )));
    }
    let ceilings =
        if urgency == Urgency::PastTheStop { Vec::new() } else { concerned.iter().map(|line| ceiling(line)).collect() };
    Ok(Some(Reserve { cost, tokens, ceilings }))
}

/// Whether a limit is one that this choice counts against.
fn concerns(key: &Key, resolution: &Resolution) -> bool {
    match key.kind {
        Kind::Overall | Kind::Batch | Kind::Task => true,
        Kind::Provider => key.name == resolution.model.provider,
        Kind::Tier => resolution.tier.as_ref() == Some(&key.name),
    }
}

fn ceiling(line: &Line) -> Ceiling {
    Ceiling {
        key: line.key.clone(),
        measure: measure_of(line.unit),
        from: bucket(line.from),
        until: line.until,
        limit: line.stop_at(),
    }
}

async fn past(context: &Context, model: &str, mode: Mode) -> Option<History> {
    let spent = context.store.usual(model, &mode.to_string(), now_micros() - PAST_MICROS).await.ok()?;
    let samples = spent.attempts;
    let mean = |sum: i64| i64::try_from(samples).ok().filter(|samples| *samples > 0).map(|samples| sum / samples);
    Some(History {
        samples: u32::try_from(samples).unwrap_or(u32::MAX),
        mean_cost: Nano(mean(spent.cost.0)?),
        mean_tokens: spent.tokens / samples.max(1),
    })
}

/// How often a model may be asked in one attempt, at the most.
fn most_prompts(context: &Context, request: &Request, steps: u32) -> u64 {
    let settings = &context.config.dispatch;
    let tries = if request.schema.is_some() { u64::from(settings.structured_retries) + 1 } else { 1 };
    u64::from(steps) * tries * u64::from(settings.provider_retries + 1)
}

/// Why a reservation was refused: others have set it aside since the choice was made, or the estimate is more than
/// what is left.
pub(crate) fn no_room(reserve: &Reserve, ceiling: usize, settled: i64, reserved: i64) -> OverBudget {
    let Some(ceiling) = reserve.ceilings.get(ceiling) else { return OverBudget("a limit has no room".into()) };
    let unit = unit_of(ceiling.measure);
    OverBudget(format!(
        "{} has no room for another attempt: {} settled and {} set aside of {}",
        ceiling.key,
        unit.show(settled),
        unit.show(reserved),
        unit.show(ceiling.limit)
    ))
}
