//! A permission that an agent asks for while it works, and the answer of a person.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// What the agent wants to do, as it is stored and shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PermissionRequest {
    /// The id that OpenCode gave it.
    pub id: String,
    /// The kind of permission, such as `bash`.
    pub permission: String,
    /// What exactly, such as the command; without secrets, and shortened when it is long.
    pub pattern: String,
    /// Of the whole request: two requests with the same digest ask for the same.
    pub digest: String,
}

word_enum! {
    pub enum PermissionReply {
        /// This one request.
        Allow = "allow",
        /// This and what OpenCode counts as the same, for the rest of the task.
        Always = "always",
        Deny = "deny",
    }
}

/// An answer that a later attempt of the same task may need: its agent asks again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Answered {
    pub digest: String,
    pub answer: PermissionReply,
}

impl fmt::Display for PermissionReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no answer: use allow, always or deny")]
pub struct BadAnswer(String);

impl FromStr for PermissionReply {
    type Err = BadAnswer;

    fn from_str(text: &str) -> Result<Self, BadAnswer> {
        Self::ALL.into_iter().find(|answer| answer.as_str() == text).ok_or_else(|| BadAnswer(text.to_owned()))
    }
}

impl PermissionRequest {
    /// For people: what is wanted, in one line.
    #[must_use]
    pub fn shown(&self) -> String {
        format!("{} {}", self.permission, self.pattern)
    }
}
