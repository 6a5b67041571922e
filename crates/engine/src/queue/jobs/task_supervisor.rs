//! Supervised tasks that came as jobs: supervised beside the jobs, so that the user need not start a supervisor for
//! them.

use super::supervised::HANDED_OVER;
use crate::{Context, queue::supervise};
use shuntyard_core::work::task::Phase;
use std::{sync::Arc, time::Duration};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// How often it checks whether there are any.
const LOOK_EVERY: Duration = Duration::from_millis(500);

pub(super) async fn supervise_tasks(context: Context, stop: CancellationToken) {
    let silent: supervise::Watcher = Arc::new(|_| {});
    while !stop.is_cancelled() {
        if has_tasks(&context).await {
            let done = stop.child_token();
            let supervising = supervise::supervise(&context, Some(HANDED_OVER), &silent, &done);
            tokio::pin!(supervising);
            tokio::select! {
                () = &mut supervising => {}
                () = supervise::until_idle(&context, Some(HANDED_OVER)) => {
                    // What a pass has begun is not left half done.
                    done.cancel();
                    supervising.await;
                }
            }
        }
        tokio::select! {
            () = sleep(LOOK_EVERY) => {}
            () = stop.cancelled() => {}
        }
    }
}

pub(super) async fn has_tasks(context: &Context) -> bool {
    let counts = context.store.task_counts(Some(HANDED_OVER)).await.unwrap_or_default();
    let open = [Phase::Queued, Phase::Waiting, Phase::Running];
    counts.iter().any(|(phase, count)| open.contains(phase) && *count > 0)
}
