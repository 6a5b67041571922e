//! Waiting for workers that this process has started, so that they leave no entry in the process table, and so that the
//! death of one is noticed at once.

use std::process::Child;
use tokio::sync::Notify;

static DIED: Notify = Notify::const_new();

/// Waits for the child in a thread of its own.
pub(super) fn reap(mut child: Child) {
    let wait = move || {
        // One that ended well has written the state of its task, which is noticed like every write.
        if !child.wait().is_ok_and(|status| status.success()) {
            DIED.notify_one();
        }
    };
    let waiting = std::thread::Builder::new().name("reaper".to_owned()).stack_size(64 * 1024).spawn(wait);
    if let Err(error) = waiting {
        tracing::debug!(%error, "a worker will be waited for by the system");
    }
}

/// Returns soon after a worker of this process has ended otherwise than well, also when that was before the call.
pub(super) async fn worker_died() {
    DIED.notified().await;
}
