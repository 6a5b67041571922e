//! Permissions that a person decides about: one at a time, while the run is watched as before.

use super::{client::Client, http::ApiError, types::Pending};
use async_trait::async_trait;
use std::fmt::Debug;

/// Asks a person, who may take hours.
#[async_trait]
pub trait Approver: Debug + Send + Sync {
    /// Waits for the decision. Dropped when the run ends first.
    async fn decide(&self, question: &Question) -> Decision;

    /// The server has the decision, or has withdrawn the request.
    async fn settled(&self, question: &Question);
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    pub id: String,
    pub permission: String,
    pub patterns: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    Once,
    /// Also what OpenCode counts as the same, for as long as its instance lives.
    Always,
    /// The model reads the message and goes on.
    Reject {
        message: String,
    },
}

impl From<&Pending> for Question {
    fn from(pending: &Pending) -> Self {
        Self { id: pending.id.clone(), permission: pending.permission.clone(), patterns: pending.patterns.clone() }
    }
}

impl Decision {
    pub(super) async fn reply(&self, client: &Client, id: &str) -> Result<(), ApiError> {
        match self {
            Self::Once => client.allow_once(id).await,
            Self::Always => client.allow_always(id).await,
            Self::Reject { message } => client.reject(id, message).await,
        }
    }

    pub(super) fn is_allowed(&self) -> bool {
        !matches!(self, Self::Reject { .. })
    }
}
