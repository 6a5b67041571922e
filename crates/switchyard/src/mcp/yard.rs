//! What every tool works with.

use super::fence::Fence;
use std::sync::Arc;
use switchyard_engine::{Context, jobs::Bell};

/// Shared by all sessions of a server.
#[derive(Debug, Clone)]
pub struct Yard {
    pub context: Arc<Context>,
    pub bell: Bell,
    pub fence: Fence,
}
