//! What an attempt leaves behind for others: what it shows about its provider, and the events of its dispatch.

use super::attempt::{Outcome, Run};
use crate::routing::availability::Observed;
use serde_json::json;
use shuntyard_agents::opencode::{GiveUp, Progress, Timer};
use shuntyard_core::{
    ErrorClass,
    routing::{Resolution, Tried},
    values::Trigger,
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::HealthSource;

pub(crate) fn is_total_timeout(outcome: &Outcome) -> bool {
    matches!(&outcome.gave_up, Some(GiveUp::Timeout { timer: Timer::Total, .. }))
}

/// What the attempt shows about its provider. A deadline of the requester's shows nothing, a probe's does.
pub(super) fn observed(outcome: &Outcome, source: HealthSource) -> Option<Observed> {
    match &outcome.result {
        Ok(_) => Some(Observed::Answered { latency: outcome.duration }),
        Err(_) if is_total_timeout(outcome) && source == HealthSource::Dispatch => None,
        Err(failure) if failure.class == ErrorClass::Cancelled => None,
        Err(failure) => {
            let asked_wait = match &outcome.gave_up {
                Some(GiveUp::ProviderRetry { wait, .. }) => Some(*wait),
                _ => None,
            };
            Some(Observed::Failed { class: failure.class, message: failure.message.clone(), asked_wait })
        }
    }
}

/// Every move is logged with from, to and trigger.
pub(super) async fn note_move(run: Run<'_>, tried: &[Tried], from: &Resolution, to: &Resolution, outcome: &Outcome) {
    let trigger = tried.last().map(|tried| tried.trigger);
    let class = outcome.result.as_ref().err().map(|failure| failure.class);
    let (from, to) = (from.model.to_string(), to.model.to_string());
    let why = format!("{from} failed ({}); {to} is asked", trigger.map_or("", Trigger::as_str));
    let data = json!({"from": from, "to": to, "trigger": trigger, "error_class": class});
    note(run, "fallback", data).await;
    (run.sink)(Progress::Moved { to, why });
}

pub(super) async fn note_other_model(run: Run<'_>, resolution: &Resolution, outcome: &Outcome) {
    if let Some(answered) = &outcome.answered_by
        && answered.base() != resolution.model.base()
    {
        let data = json!({"asked": resolution.model.to_string(), "answered": answered.to_string()});
        note(run, "model.mismatch", data).await;
    }
}

async fn note(run: Run<'_>, kind: &str, data: serde_json::Value) {
    if let Err(error) = run.context.store.append_event(now_micros(), kind, &run.id.to_string(), &data).await {
        tracing::warn!(%error, kind, "an event could not be recorded");
    }
}
