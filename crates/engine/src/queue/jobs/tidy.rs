//! What is of no use any more: the texts of jobs that are over for long, and attachments that no open job has.

use crate::Context;
use shuntyard_core::work::job::JobState;
use shuntyard_host::clock::now_micros;
use shuntyard_store::JobFilter;
use std::{
    collections::BTreeSet,
    path::PathBuf,
    time::{Duration, SystemTime},
};
use uuid::Uuid;

/// Jobs whose texts are forgotten in one go.
const AT_ONCE: u32 = 200;
/// Open jobs whose attachments are looked for; with more than that nothing is removed.
const MOST_OPEN: u32 = 10_000;
/// Attachments are copied before their job is added.
const FRESH: Duration = Duration::from_secs(600);

/// A failure is no reason not to execute jobs.
pub(super) async fn tidy(context: &Context) {
    if let Err(error) = forget(context).await {
        tracing::warn!(%error, "old jobs could not be forgotten");
    }
    if let Err(error) = sweep(context).await {
        tracing::warn!(%error, "old attachments could not be removed");
    }
}

/// What is over for long keeps its end and loses its texts.
async fn forget(context: &Context) -> shuntyard_store::Result<()> {
    let Some(keep) = context.config.jobs.keep.0 else { return Ok(()) };
    let before = now_micros().saturating_sub(i64::try_from(keep.as_micros()).unwrap_or(i64::MAX));
    while context.store.forget_jobs(before, AT_ONCE).await?.len() == AT_ONCE as usize {}
    context.store.prune_workers(before).await?;
    Ok(())
}

async fn sweep(context: &Context) -> shuntyard_store::Result<()> {
    let states = vec![JobState::Queued, JobState::Running, JobState::Paused];
    let filter = JobFilter { states, limit: MOST_OPEN, ..JobFilter::default() };
    let open = context.store.jobs(&filter).await?;
    if open.len() == MOST_OPEN as usize {
        return Ok(());
    }
    let attachments = open.iter().filter_map(|job| job.order.as_ref()).flat_map(|order| &order.attachments);
    let used: BTreeSet<PathBuf> = attachments.filter_map(|file| file.parent().map(PathBuf::from)).collect();
    for entry in std::fs::read_dir(context.paths.data_dir.join("jobs")).into_iter().flatten().flatten() {
        let is_ours = entry.file_name().to_str().is_some_and(|name| Uuid::parse_str(name).is_ok());
        let made = entry.metadata().and_then(|meta| meta.modified()).unwrap_or_else(|_| SystemTime::now());
        let is_old = made.elapsed().is_ok_and(|age| age > FRESH);
        if is_ours && is_old && !used.contains(&entry.path()) {
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
    Ok(())
}
