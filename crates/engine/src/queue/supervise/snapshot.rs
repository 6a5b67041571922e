//! The scheduler's snapshot: which tasks could start, which run, how many slots are free, and whether anything may
//! start at all. It is advisory: a claim checks again in its own transaction.

use super::change::ChangeError;
use crate::Context;
use shuntyard_core::{
    settings::micros,
    work::task::{Breaker, Ending, Limits, Live, Pressure, breaker, room},
};
use shuntyard_host::{clock::now_micros, load};
use shuntyard_store::{BatchRecord, Ready};
use std::collections::BTreeMap;

/// The mark under which a person clears the breaker.
pub const BREAKER_CLEARED: &str = "breaker.cleared";

#[derive(Debug)]
pub(super) struct Snapshot {
    pub(super) ready: Ready,
    pub(super) live: Vec<Live>,
    pub(super) batches: Vec<BatchRecord>,
    pub(super) breaker: Breaker,
}

/// The first `each` of every lane, with what decides between them.
pub(super) async fn snapshot(context: &Context, batch: Option<&str>, each: u32) -> Result<Snapshot, ChangeError> {
    // In this order: a task that another supervisor claims in between is in neither, and at worst a claim is refused.
    // If it were in both, it would take two places, and nothing would ask for another pass.
    let live = live_now(context).await?;
    Ok(Snapshot {
        live,
        ready: context.store.ready_tasks(batch, 0, each).await?,
        batches: context.store.batches().await?,
        breaker: breaker_now(context).await?,
    })
}

pub(super) async fn live_now(context: &Context) -> Result<Vec<Live>, ChangeError> {
    let runs = context.store.live_runs().await?.into_iter();
    let live =
        runs.map(|run| Live { repository: run.repository, batch: run.batch, parent: run.parent, model: run.model });
    Ok(live.collect())
}

pub(super) async fn limits_of(context: &Context, batches: &[BatchRecord]) -> Limits {
    let settings = &context.config.supervise;
    let pressure = if settings.adaptive { pressure_now().await } else { None };
    let limited = batches.iter().filter(|batch| batch.concurrency > 0);
    let batches: BTreeMap<String, u32> = limited.map(|batch| (batch.name.clone(), batch.concurrency)).collect();
    Limits {
        total: room(settings.concurrency, settings.most_at_once(load::cores()), pressure),
        repository: settings.per_repository,
        siblings: settings.siblings,
        provider: settings.per_provider,
        model: settings.per_model,
        batches,
    }
}

async fn pressure_now() -> Option<Pressure> {
    // Where small files contain it, to read them takes less than to have another thread do that.
    let load = match cfg!(target_os = "linux") {
        true => load::load(),
        false => tokio::task::spawn_blocking(load::load).await.ok().flatten(),
    }?;
    Some(Pressure {
        memory_available: whole_percent(load.memory_available_percent),
        processor: whole_percent(load.cpu_pressure_percent),
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits")]
fn whole_percent(percent: f64) -> u32 {
    percent.clamp(0.0, 1000.0) as u32
}

pub(super) async fn breaker_now(context: &Context) -> Result<Breaker, ChangeError> {
    let settings = &context.config.supervise;
    let ended = context.store.ended_runs(ends_that_count(context)).await?;
    let endings: Vec<Ending> = ended
        .iter()
        // One that was lost or stopped has not shown anything about the environment.
        .filter(|run| matches!(run.outcome.as_deref(), Some("approved" | "refused")))
        .filter_map(|run| Some(Ending { at: run.ended_at?, failure: run.failure_mode }))
        .collect();
    let cleared = context.store.mark(BREAKER_CLEARED).await?.unwrap_or(i64::MIN);
    Ok(breaker(&endings, settings.breaker_failures, micros(settings.breaker_pause), cleared, now_micros()))
}

/// Among the last so many are enough that show something.
fn ends_that_count(context: &Context) -> u32 {
    let most = u32::try_from(context.config.supervise.breaker_failures).unwrap_or(u32::MAX).max(1);
    most.saturating_mul(4)
}
