//! What is asked of a provider, and how long it may take.

use super::provider::Provider;
use crate::opencode::{RunLimits, Sink};
use serde_json::{Map, Value};
use shuntyard_core::routing::request::Image;
use std::{
    fmt,
    time::{Duration, Instant},
};
use tokio_util::sync::CancellationToken;

/// One prompt for one model. A variant is no part of this wire shape.
pub struct Ask<'a> {
    pub provider: &'a Provider,
    /// The model's id as the provider has it, without the provider's own name.
    pub model: &'a str,
    pub system: Option<&'a str>,
    /// The earlier messages of the same conversation: nothing is kept between two requests.
    pub earlier: &'a [Earlier<'a>],
    pub prompt: &'a str,
    /// They go with the first prompt of the conversation.
    pub images: &'a [Image],
    /// What the answer has to fit. It is parsed here and validated by the caller.
    pub schema: Option<&'a Value>,
    pub max_output_tokens: Option<u64>,
    /// Further fields by their names on the wire, as a user's settings may have them. They replace none of ours.
    pub extra: Option<&'a Map<String, Value>>,
    pub limits: Limits,
    pub sink: &'a Sink,
    pub cancel: &'a CancellationToken,
}

impl fmt::Debug for Ask<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("provider", self.provider)
            .field("model", &self.model)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// A prompt with its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Earlier<'a> {
    pub prompt: &'a str,
    pub answer: &'a str,
}

/// The limits of a run as far as a single answer has them, with the same meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Counted from the call, with the waits between retries.
    pub first_token: Option<Duration>,
    pub inactivity: Option<Duration>,
    pub total: Option<Duration>,
    /// When the total began to count: several prompts can share one deadline.
    pub began: Instant,
    /// A provider that wants us to wait longer is given up.
    pub retry_wait_cap: Option<Duration>,
    pub provider_retries: u32,
}

impl From<RunLimits> for Limits {
    fn from(limits: RunLimits) -> Self {
        let RunLimits { first_token, inactivity, total, began, retry_wait_cap, provider_retries, .. } = limits;
        Self { first_token, inactivity, total, began, retry_wait_cap, provider_retries }
    }
}
