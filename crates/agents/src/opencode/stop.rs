//! Ending a run on the server, and making sure that it ended.

use super::client::Client;
use futures_util::future::join_all;
use std::time::Duration;
use tokio::time::{Instant, sleep};

const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(100);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StopOutcome {
    Stopped,
    /// The server took the abort, but the run goes on.
    StillRunning,
    /// The server does not answer.
    Unreachable,
}

/// Aborts all of `sessions` and waits until none of them runs.
pub async fn stop_sessions(client: &Client, sessions: &[String]) -> StopOutcome {
    let started = Instant::now();
    loop {
        let aborted = join_all(sessions.iter().map(|session| client.abort(session))).await;
        if aborted.iter().any(|result| matches!(result, Err(error) if error.is_server_lost())) {
            return StopOutcome::Unreachable;
        }
        match client.running().await {
            Ok(running) if sessions.iter().all(|session| !running.contains_key(session)) => {
                return StopOutcome::Stopped;
            }
            Ok(_) if started.elapsed() >= PATIENCE => return StopOutcome::StillRunning,
            Err(_) if started.elapsed() >= PATIENCE => return StopOutcome::Unreachable,
            Ok(_) | Err(_) => sleep(LOOK_AGAIN).await,
        }
    }
}
