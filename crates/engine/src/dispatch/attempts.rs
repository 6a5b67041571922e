//! The attempts of a dispatch: the first choice, and after a failure the next, until one answers or none is left.
//!
//! Invariants: nothing is asked twice; every move is in the store with from, to and trigger; the time of the whole
//! dispatch is one.

use super::{
    READY_WITHIN,
    attempt::{Attempt, Outcome, Run, ServerAttempt, run_direct, run_on_server},
    notes::{is_total_timeout, note_move, note_other_model, observed},
    prepare::Prepared,
    server_handle::late,
    transport::Way,
};
use crate::{
    base::refusal::Refusal,
    routing::{
        availability::{Observed, note_refused_key, observe},
        budget::{OverBudget, Planned, Reservation, reserve_for},
        catalogue,
    },
    servers::give_up,
};
use shuntyard_core::{
    ErrorClass, Nano,
    routing::{Model, Resolution, RouteError, Tried, next, resolve},
    values::{Mode, Trigger, duration, money::Price},
};
use std::time::Instant;

/// An attempt that has been made, and the choice that led to it.
#[derive(Debug)]
pub(crate) struct Made {
    pub(crate) resolution: Resolution,
    pub(crate) outcome: Outcome,
}

/// All attempts of a dispatch; the last one is its result.
#[derive(Debug)]
pub(crate) struct AttemptLoop {
    pub(super) earlier: Vec<Made>,
    pub(super) last: Made,
    pub(super) warnings: Vec<String>,
}

impl AttemptLoop {
    pub(crate) fn all(&self) -> impl Iterator<Item = &Made> {
        self.earlier.iter().chain([&self.last])
    }
}

/// Makes the attempts. A refusal means that not even the first could be made.
pub(super) async fn run_hops(run: Run<'_>, prepared: &mut Prepared) -> Result<AttemptLoop, Refusal> {
    let timed_from = Instant::now();
    let mut earlier: Vec<Made> = Vec::new();
    let mut tried: Vec<Tried> = Vec::new();
    let mut warnings = Vec::new();
    let mut recorded = false;
    let mut resolution = prepared.resolution.clone();
    loop {
        add(&mut warnings, &resolution.warnings);
        if prepared.foreign.contains(&resolution.model.provider) {
            add(&mut warnings, &[catalogue::foreign_warning(&resolution.model.provider)]);
        }
        let reservation = match reserved(run, prepared, &resolution, &earlier).await {
            Ok(reservation) => reservation,
            Err(over) => {
                if let Some(other) = with_room(run, prepared, &resolution, &tried, &over.why) {
                    resolution = other;
                    continue;
                }
                let Some(last) = earlier.pop() else { return Err(over.into()) };
                warnings.push(format!("{} could not be asked: {}", resolution.model, over.why));
                return Ok(AttemptLoop { earlier, last, warnings });
            }
        };
        let attempt = Attempt {
            run,
            resolution: &resolution,
            catalogue: &prepared.catalogue,
            ordinal: u32::try_from(earlier.len() + 1).unwrap_or(u32::MAX),
            recorded,
            reservation,
            left: left(run, &earlier),
            timed_from,
        };
        let outcome = match made(&attempt).await {
            Ok(outcome) => outcome,
            Err(refusal) => {
                if let Refusal::Budget { why, .. } = &refusal
                    && let Some(other) = with_room(run, prepared, &resolution, &tried, why)
                {
                    recorded = true;
                    resolution = other;
                    continue;
                }
                // What was tried before has been paid for, so it stays the result.
                let Some(last) = earlier.pop() else { return Err(refusal) };
                let managed = run.server_handle.get().and_then(|server_handle| server_handle.acquired.managed);
                if let (Refusal::Api(error), Some(server)) = (&refusal, managed)
                    && error.is_server_lost()
                {
                    give_up(run.context, server).await;
                }
                warnings.push(format!("{} could not be asked: {refusal}", resolution.model));
                return Ok(AttemptLoop { earlier, last, warnings });
            }
        };
        recorded = true;
        add(&mut warnings, &outcome.warnings);
        if let Some(most) = run.options.max_cost {
            let spent = earlier.iter().map(|made| made.outcome.cost).sum::<Nano>() + outcome.cost;
            if spent > most {
                add(&mut warnings, &[format!("it cost {spent}, more than the {most} that was allowed")]);
            }
        }
        note_other_model(run, &resolution, &outcome).await;
        let seen = observed(&outcome, run.options.source());
        if let Some(seen) = &seen {
            if let Observed::Failed { class: ErrorClass::AuthInvalid | ErrorClass::AuthMissing, .. } = seen {
                let provider = &resolution.model.provider;
                let env = prepared.catalogue.providers.get(provider).map(|found| found.env.as_slice());
                note_refused_key(run.context, &run.request.directory, provider, env.unwrap_or_default());
            }
            observe(run.context, &mut prepared.known, &resolution.model, run.options.source(), seen).await;
        }
        let follows = match following(run, prepared, &resolution, &outcome, &mut tried, timed_from) {
            Follows::Next(follows) => *follows,
            Follows::Nothing(why) => {
                warnings.extend(why);
                return Ok(AttemptLoop { earlier, last: Made { resolution, outcome }, warnings });
            }
        };
        note_move(run, &tried, &resolution, &follows, &outcome).await;
        earlier.push(Made { resolution, outcome });
        resolution = follows;
    }
}

async fn made(attempt: &Attempt<'_>) -> Result<Outcome, Refusal> {
    let run = attempt.run;
    match run.way(&attempt.resolution.model) {
        Way::Direct(line) => return run_direct(attempt, &line).await,
        Way::Barred(why) => return Err(Refusal::NotDirect(why)),
        Way::OpenCode => {}
    }
    let is_late = run.server_handle.get().is_none();
    let arriving = tokio::time::timeout(READY_WITHIN, late(run.server_handle, run.context, run.request, run.id));
    let server_handle = tokio::select! {
        arrived = arriving => arrived.map_err(|_| Refusal::NotReady(duration::show(READY_WITHIN)))??,
        () = run.cancel.cancelled() => return Err(Refusal::Cancelled),
    };
    let mut outcome = run_on_server(&ServerAttempt { attempt, server_handle }).await?;
    if is_late {
        // A server that was there from the beginning has reported its warnings already.
        outcome.warnings.extend(server_handle.acquired.warnings.iter().cloned());
    }
    Ok(outcome)
}

/// Another model when the limits do not allow this one. A model that was named is refused instead.
fn with_room(
    run: Run<'_>,
    prepared: &mut Prepared,
    resolution: &Resolution,
    tried: &[Tried],
    why: &str,
) -> Option<Resolution> {
    let exhausted = &mut prepared.advice.budget.exhausted;
    // A session speaks with one model. Asked once and refused again, a provider would be asked for ever.
    if run.request.selector.is_explicit()
        || run.request.session.is_some()
        || exhausted.contains_key(&resolution.model.provider)
    {
        return None;
    }
    exhausted.insert(resolution.model.provider.clone(), why.to_owned());
    let question = prepared.question(run.context, run.request);
    let agent = run.request.agent.as_deref();
    let found = match tried {
        [] => resolve(&question),
        _ => next(&question, resolution, tried, run.options.exchange, agent),
    };
    found.ok().filter(|found| found.model != resolution.model)
}

/// What the next attempt reserves, after what the earlier ones have cost. Nothing is known about a model that the
/// catalogue does not list.
async fn reserved(
    run: Run<'_>,
    prepared: &Prepared,
    resolution: &Resolution,
    earlier: &[Made],
) -> Result<Option<Reservation>, OverBudget> {
    let left = left(run, earlier);
    let Ok(model) = prepared.catalogue.find(&resolution.model) else { return Ok(None) };
    // What a directory says about a price holds no limit.
    let priceless = Model { price: Price::default(), ..model.clone() };
    let model = if prepared.foreign.contains(&resolution.model.provider) { &priceless } else { model };
    let planned = Planned {
        lines: &prepared.lines,
        urgency: run.options.urgency,
        request: run.request,
        resolution,
        model,
        left,
        steps: run.options.most_steps(&run.context.config.dispatch, run.request.mode),
    };
    reserve_for(run.context, &planned).await.map(Some)
}

/// What the attempts so far have left of the money that the dispatch may cost.
fn left(run: Run<'_>, earlier: &[Made]) -> Option<Nano> {
    let spent: Nano = earlier.iter().map(|made| made.outcome.cost).sum();
    run.options.max_cost.map(|most| most.less(spent))
}

/// Adds each warning once: a later decision repeats those of the earlier ones.
fn add(warnings: &mut Vec<String>, more: &[String]) {
    for warning in more {
        if !warnings.contains(warning) {
            warnings.push(warning.clone());
        }
    }
}

enum Follows {
    Next(Box<Resolution>),
    /// With what the requester should know about it.
    Nothing(Option<String>),
}

fn following(
    run: Run<'_>,
    prepared: &Prepared,
    resolution: &Resolution,
    outcome: &Outcome,
    tried: &mut Vec<Tried>,
    timed_from: Instant,
) -> Follows {
    let Err(failure) = &outcome.result else { return Follows::Nothing(None) };
    let Some(trigger) = Trigger::of(failure.class) else { return Follows::Nothing(None) };
    tried.push(Tried { model: resolution.model.clone(), trigger });
    let because = |why: &str| Follows::Nothing(Some(format!("no other model was asked: {why}")));
    if run.request.session.is_some() {
        // A session speaks with one model, so a caller that continues it means that one.
        return Follows::Nothing(None);
    }
    if is_total_timeout(outcome) {
        return Follows::Nothing(None);
    }
    let question = prepared.question(run.context, run.request);
    let agent = run.request.agent.as_deref();
    let found = next(&question, resolution, tried, run.options.exchange, agent);
    if matches!(found, Err(RouteError::Held { .. })) {
        return Follows::Nothing(None);
    }
    if !outcome.stopped {
        return because("the failed run may still be going on");
    }
    if run.request.mode != Mode::Text && outcome.tool_calls > 0 {
        return because("the failed one had begun to work in the directory");
    }
    if let Some(total) = run.options.total(&run.context.config.dispatch, run.request.mode).0
        && timed_from.elapsed() >= total
    {
        return because("the time is used up");
    }
    match found {
        Ok(found) => Follows::Next(Box::new(found)),
        Err(error) => Follows::Nothing(Some(error.to_string())),
    }
}
