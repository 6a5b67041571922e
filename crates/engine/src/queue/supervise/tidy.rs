//! Ending what a worker started. Every process of a worker carries the task and the claim in its environment, which
//! is the proof that a leftover is ours.

use crate::{Context, base::hash::short_hash};
use shuntyard_core::work::task::TaskId;
use shuntyard_host::{ProcessIdentity, Signal, bounded::wait_until, tree::end_marked};
use std::time::Duration;

const GONE_WITHIN: Duration = Duration::from_secs(5);
const GRACE: Duration = Duration::from_secs(2);

/// Set for the worker and inherited by all that it starts.
pub const WORKER_MARK: &str = "SHUNTYARD_WORKER";

/// The same id is in other stores of the same user too, so the mark says whose it is.
#[must_use]
pub fn mark_of(context: &Context, id: &TaskId, epoch: i64) -> String {
    format!("{id}@{epoch}#{}", short_hash(&context.store_path.display().to_string()))
}

/// Ends the worker, if it is known, and whatever carries its mark. Blocks only a thread that may be blocked.
pub(crate) async fn end_processes(context: &Context, id: &TaskId, epoch: i64, worker: Option<ProcessIdentity>) {
    let mark = mark_of(context, id, epoch);
    let ending = tokio::task::spawn_blocking(move || {
        if let Some(worker) = worker {
            // Only itself: the keeper of a server that others use too may be its child. It is not asked first: what it
            // has to save is in the store or in its worktree.
            worker.signal(Signal::KILL);
            drop(wait_until(GONE_WITHIN, || Ok((!worker.is_alive()).then_some(()))));
        }
        end_marked(WORKER_MARK, &mark, GRACE)
    });
    if let Ok(survivors) = ending.await
        && !survivors.is_empty()
    {
        tracing::warn!(%id, epoch, count = survivors.len(), "processes of a worker survived");
    }
}
