//! The state that every tool uses.

use super::fence::Fence;
use shuntyard_engine::{Context, queue::jobs::JobNotifier};
use std::sync::Arc;

/// Shared by all sessions of a server.
#[derive(Debug, Clone)]
pub struct Yard {
    pub context: Arc<Context>,
    pub notifier: JobNotifier,
    pub fence: Fence,
}
