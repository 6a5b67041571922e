//! Why something about a job or a worker was refused: what, and what would be right.

use crate::base::refusal::Refusal;
use serde::Serialize;
use serde_json::{Value, json};
use shuntyard_store::{ErrorKind, StoreError};

/// The class of a change that another process was faster with.
pub(super) const CONFLICT: &str = "conflict";

/// For a model or a person, who can act on it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize)]
#[error("{message}")]
pub struct JobError {
    /// One word for programs: `usage`, `unknown_id`, `unavailable`, or a class of a failed dispatch.
    pub class: String,
    pub message: String,
    pub hint: String,
    /// What would have been right, where that is a list.
    pub valid: Vec<String>,
}

impl JobError {
    #[must_use]
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { class: "usage".into(), message: message.into(), hint: hint.into(), valid: Vec::new() }
    }

    /// Of several things one has to be named.
    #[must_use]
    pub fn choose(message: impl Into<String>, valid: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let valid: Vec<String> = valid.into_iter().map(Into::into).collect();
        let hint = format!("use one of: {}", valid.join(", "));
        Self { valid, ..Self::usage(message, hint) }
    }

    #[must_use]
    pub fn unknown(id: &str) -> Self {
        let message = format!("there is no job or task `{id}`");
        let hint = "it was never started here, or in another store; see task_list with view \"tasks\"";
        Self { class: "unknown_id".into(), ..Self::usage(message, hint) }
    }

    #[must_use]
    pub fn unavailable(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { class: "unavailable".into(), ..Self::usage(message, hint) }
    }

    #[must_use]
    pub fn to_json(&self) -> Value {
        json!({"error": self})
    }
}

impl From<StoreError> for JobError {
    fn from(error: StoreError) -> Self {
        match error.kind() {
            ErrorKind::NotFound => Self::usage(error.to_string(), "look again with task_list"),
            ErrorKind::Conflict => {
                Self { class: CONFLICT.to_owned(), ..Self::usage(error.to_string(), "look again with task_list") }
            }
            _ => Self::unavailable(format!("the store: {error}"), "try again; see `shuntyard doctor`"),
        }
    }
}

impl From<Refusal> for JobError {
    fn from(refusal: Refusal) -> Self {
        let class = refusal.class();
        let hint = class.map_or("see task_list with view \"models\"", shuntyard_core::ErrorClass::hint);
        Self {
            class: class.map_or("usage", shuntyard_core::ErrorClass::as_str).to_owned(),
            ..Self::usage(refusal.to_string(), hint)
        }
    }
}
