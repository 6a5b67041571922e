//! The client that made a call: how it gets progress, and when it has gone away.

use rmcp::{
    RoleServer,
    model::{ProgressNotificationParam, ProgressToken},
    service::{Peer, RequestContext},
};
use shuntyard_core::values::duration::Limit;
use std::{
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// A client gives a call up after a minute without progress; it gets its answer well before.
const UNHEARD: Duration = Duration::from_secs(45);
/// Where the configuration sets no limit to a wait.
const LONGEST: Duration = Duration::from_secs(24 * 3600);

#[derive(Debug)]
pub struct Caller {
    peer: Peer<RoleServer>,
    token: Option<ProgressToken>,
    withdrawn: CancellationToken,
    closing: CancellationToken,
    told: AtomicU32,
}

impl Caller {
    /// `closing`: the connection is closed, so no answer can be sent.
    pub fn of(request: &RequestContext<RoleServer>, closing: &CancellationToken) -> Self {
        Self {
            peer: request.peer.clone(),
            token: request.meta.get_progress_token(),
            withdrawn: request.ct.clone(),
            closing: closing.clone(),
            told: AtomicU32::new(0),
        }
    }

    /// How long a call may wait: at most `limit` when its client gets progress meanwhile.
    pub fn patience(&self, asked: Option<Duration>, limit: Limit) -> Duration {
        let most = if self.token.is_some() { limit.0.unwrap_or(LONGEST) } else { UNHEARD };
        asked.map_or(most, |asked| asked.min(most))
    }

    /// Sends a progress message, if the client asked for progress.
    pub async fn progress(&self, message: String) {
        let Some(token) = &self.token else { return };
        let count = self.told.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let param = ProgressNotificationParam::new(token.clone(), f64::from(count)).with_message(message);
        // A client that has gone away is noticed elsewhere.
        drop(self.peer.notify_progress(param).await);
    }

    /// Ends when the client has gone away.
    pub async fn gone(&self) {
        tokio::select! {
            () = self.withdrawn.cancelled() => {}
            () = self.closing.cancelled() => {}
        }
    }
}
