//! What an attempt shows about its provider and model. A note of it must never cost an answer: what cannot be written
//! is logged.

use super::Known;
use crate::Context;
use shuntyard_core::{
    ErrorClass, ModelRef,
    routing::HealthStatus,
    settings::Config,
    values::{Trigger, duration::Limit},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{CooldownRecord, HealthRecord, HealthSource};
use std::time::Duration;

/// How an attempt ended, as far as others should know.
#[derive(Debug, Clone)]
pub enum Observed {
    Answered { latency: Duration },
    Failed { class: ErrorClass, message: String, asked_wait: Option<Duration> },
}

pub async fn observe(context: &Context, known: &mut Known, model: &ModelRef, source: HealthSource, seen: &Observed) {
    let now = now_micros();
    let written = match seen {
        Observed::Answered { latency } => answered(context, known, model, source, *latency, now).await,
        Observed::Failed { class, message, asked_wait } => {
            failed(context, known, model, source, (*class, message, *asked_wait), now).await
        }
    };
    if let Err(error) = written {
        tracing::warn!(%error, %model, "what an attempt told about its provider could not be noted");
    }
}

/// An answer ends the cooldowns of the model and its provider, and is noted when nothing so good was known.
async fn answered(
    context: &Context,
    known: &mut Known,
    model: &ModelRef,
    source: HealthSource,
    latency: Duration,
    now: i64,
) -> shuntyard_store::Result<()> {
    let base = model.base();
    let targets: Vec<&str> = known
        .cooldowns
        .iter()
        .map(|row| row.target.as_str())
        .filter(|target| *target == base || *target == model.provider)
        .collect();
    // What others have met while this answer was under way is newer than the answer.
    let asked_at = now.saturating_sub(i64::try_from(latency.as_micros()).unwrap_or(i64::MAX));
    if !targets.is_empty() {
        context.store.end_cooldowns(&targets, asked_at, now).await?;
    }
    let is_known = known.health_of(&model.provider, now).is_some_and(|row| row.status == HealthStatus::Available);
    if is_known && source == HealthSource::Dispatch {
        return Ok(());
    }
    let health = HealthRecord {
        provider: model.provider.clone(),
        status: HealthStatus::Available,
        class: None,
        message: None,
        source,
        latency_ms: u64::try_from(latency.as_millis()).ok(),
        checked_at: asked_at,
        expires_at: later(asked_at, ttl(&context.config, HealthStatus::Available)),
    };
    context.store.put_health(&health).await
}

async fn failed(
    context: &Context,
    known: &mut Known,
    model: &ModelRef,
    source: HealthSource,
    (class, message, asked_wait): (ErrorClass, &str, Option<Duration>),
    now: i64,
) -> shuntyard_store::Result<()> {
    if let Some(trigger) = Trigger::of(class)
        && let Some(lasts) = context.config.fallback.cooldowns.after(trigger, asked_wait)
    {
        let cooldown = CooldownRecord {
            target: trigger.scope().target(model),
            trigger,
            class,
            message: message.to_owned(),
            since: now,
            until: later(now, lasts),
        };
        context.store.put_cooldown(&cooldown).await?;
    }
    if let Some(status) = told(class, source) {
        let health = HealthRecord {
            provider: model.provider.clone(),
            status,
            class: Some(class),
            message: Some(message.to_owned()),
            source,
            latency_ms: None,
            checked_at: now,
            expires_at: later(now, ttl(&context.config, status)),
        };
        context.store.put_health(&health).await?;
    }
    // The next choice of this very request has to see it.
    *known = super::load(context, now).await?;
    Ok(())
}

/// What a failure shows about the provider as a whole. A model that fails on one prompt shows little; a key, a limit, a
/// dead line or a stall show much. A probe asks for nothing special, so its failure always counts.
fn told(class: ErrorClass, source: HealthSource) -> Option<HealthStatus> {
    let status = HealthStatus::after(class)?;
    match (source, class) {
        (HealthSource::Dispatch, ErrorClass::ServerError | ErrorClass::Overloaded | ErrorClass::EmptyResponse) => None,
        _ => Some(status),
    }
}

/// How long a finding is valid: limits pass soon, and so may a stall.
pub(crate) fn ttl(config: &Config, status: HealthStatus) -> Duration {
    let Limit(lasts) = match status {
        HealthStatus::RateLimited => config.availability.limit_ttl,
        HealthStatus::Available | HealthStatus::Unavailable | HealthStatus::KeyInvalid | HealthStatus::KeyMissing => {
            config.availability.health_ttl
        }
    };
    lasts.unwrap_or_default()
}

pub(crate) fn later(now: i64, by: Duration) -> i64 {
    now.saturating_add(i64::try_from(by.as_micros()).unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bad_answer_does_not_condemn_a_provider() {
        let table = [
            (ErrorClass::AuthInvalid, HealthSource::Dispatch, Some(HealthStatus::KeyInvalid)),
            (ErrorClass::RateLimited, HealthSource::Dispatch, Some(HealthStatus::RateLimited)),
            (ErrorClass::Network, HealthSource::Dispatch, Some(HealthStatus::Unavailable)),
            (ErrorClass::Timeout, HealthSource::Dispatch, Some(HealthStatus::Unavailable)),
            (ErrorClass::ServerError, HealthSource::Dispatch, None),
            (ErrorClass::ServerError, HealthSource::Probe, Some(HealthStatus::Unavailable)),
            (ErrorClass::ContentFiltered, HealthSource::Probe, None),
        ];
        for (class, source, expected) in table {
            assert_eq!(told(class, source), expected, "{class} {source:?}");
        }
    }
}
