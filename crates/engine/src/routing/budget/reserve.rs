//! What an attempt reserves before it runs, and the ceilings that the store checks in the same transaction: the process
//! that comes second sees what the first has reserved.
//!
//! Every attempt reserves its estimate, also when no limit holds for it: should its process die, that is what it is
//! settled at until its real cost can be read.

use super::lines::measure_of;
use crate::{Context, base::refusal::Refusal};
use shuntyard_core::{
    Nano,
    limits::{Estimate, History, Key, Kind, Line, Reserving, Unit, estimate, no_room, over_max_cost, raise_command},
    routing::{Model, Resolution, request::Request},
    values::{Mode, Urgency},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{Ceiling, Reserve, bucket};

/// The next attempt is estimated by a week of this model's past in the same mode.
const PAST_MICROS: i64 = 7 * 24 * 3600 * 1_000_000;

/// Why an attempt may not run, and the next command to try where there is a better one than the usual.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct OverBudget {
    pub(crate) why: String,
    pub(crate) next: Option<String>,
}

impl From<OverBudget> for Refusal {
    fn from(OverBudget { why, next }: OverBudget) -> Self {
        Self::Budget { why, next }
    }
}

/// A reservation, with the details that a refusal gives.
#[derive(Debug, Clone)]
pub(crate) struct Reservation {
    pub(crate) reserve: Reserve,
    /// The limits behind the ceilings, in the same order.
    limits: Vec<Line>,
    estimate: Estimate,
}

impl Reservation {
    /// Whether a ceiling is the limit of a task, which holds for all time.
    pub(crate) fn is_of_task(&self, ceiling: usize) -> bool {
        self.limits.get(ceiling).is_some_and(|line| line.key.kind == Kind::Task)
    }

    /// Why the store refused it: others have reserved since the choice was made, or the estimate is more than what is
    /// left.
    pub(crate) fn refused(&self, ceiling: usize, settled: i64, reserved: i64) -> OverBudget {
        let Some(line) = self.limits.get(ceiling) else {
            return OverBudget { why: "a limit has no room".into(), next: None };
        };
        let next = format!("see `shuntyard budget status`, or raise the limit with `{}`", raise_command(line));
        OverBudget { why: no_room(line, settled, reserved, &self.estimate), next: Some(next) }
    }
}

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

/// What the attempt reserves.
pub(crate) async fn reserve_for(context: &Context, planned: &Planned<'_>) -> Result<Reservation, OverBudget> {
    let Planned { lines, urgency, request, resolution, model, left, steps } = *planned;
    let concerned: Vec<&Line> = lines.iter().filter(|line| concerns(&line.key, resolution)).collect();
    let settings = &context.config.budget;
    let reserving = if settings.strict { Reserving::WorstCase } else { Reserving::Likely };
    let history = past(context, &resolution.model.to_string(), request.mode).await;
    let prompt = request.needs().context;
    let prompts = most_prompts(context, request, steps);
    let estimate = estimate(model, prompt, settings.expected_output, prompts, history.as_ref(), reserving);
    let counts = |line: &&&Line| line.unit == Unit::Usd && !line.unknown_allowed;
    let held_by = concerned.iter().find(counts).map(|line| line.key.to_string());
    let held_by = held_by.or_else(|| left.filter(|_| !settings.unknown_allowed).map(|_| "--max-cost".to_owned()));
    if let (None, Some(limit), true) = (estimate.cost, held_by, urgency != Urgency::PastTheStop) {
        let why = format!(
            "{} has no price, so it cannot be held to the limit of {limit}; `budget.unknown_allowed` would let it run",
            resolution.model
        );
        return Err(OverBudget { why, next: None });
    }
    let cost = estimate.cost.unwrap_or_default();
    if let Some(left) = left.filter(|left| cost > *left) {
        let why = over_max_cost(&resolution.model.to_string(), left, &estimate);
        return Err(OverBudget { why, next: Some("raise --max-cost, or name a cheaper model".to_owned()) });
    }
    let limits: Vec<Line> = match urgency {
        Urgency::PastTheStop => Vec::new(),
        Urgency::Normal | Urgency::Critical => concerned.into_iter().cloned().collect(),
    };
    let ceilings = limits.iter().map(ceiling).collect();
    Ok(Reservation { reserve: Reserve { cost, tokens: estimate.tokens, ceilings }, limits, estimate })
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
