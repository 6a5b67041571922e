//! How a piece of work ended, and what that says about the model.

use crate::ErrorClass;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Success,
    Failure,
}

/// Why work failed, as far as it matters for what to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum FailureMode {
    /// It may work in a moment, unchanged.
    Transient,
    /// A limit was reached: quota, money, memory.
    Resource,
    /// Something around it is not as it should be: a key, a program, a server.
    Environment,
    /// The model did not manage.
    Logic,
    /// Something has to happen first that the model cannot do.
    Blocked,
    /// Nobody can say what was wanted.
    Ambiguous,
}

impl FailureMode {
    pub const ALL: [Self; 6] =
        [Self::Transient, Self::Resource, Self::Environment, Self::Logic, Self::Blocked, Self::Ambiguous];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "TRANSIENT",
            Self::Resource => "RESOURCE",
            Self::Environment => "ENVIRONMENT",
            Self::Logic => "LOGIC",
            Self::Blocked => "BLOCKED",
            Self::Ambiguous => "AMBIGUOUS",
        }
    }

    /// In any case of letters, as people write it.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.as_str().eq_ignore_ascii_case(text))
    }

    /// Whether it says anything about what the model can do.
    #[must_use]
    pub fn counts(self) -> bool {
        match self {
            Self::Transient | Self::Resource | Self::Environment => false,
            Self::Logic | Self::Blocked | Self::Ambiguous => true,
        }
    }

    /// What an error class means. A deadline that passed while a model was at work is the model's own; silence is
    /// the provider's. `None`: somebody ended it, and nothing was learned.
    #[must_use]
    pub fn of(class: ErrorClass, deadline: Deadline) -> Option<Self> {
        Some(match class {
            ErrorClass::Cancelled => return None,
            ErrorClass::RateLimited | ErrorClass::Overloaded | ErrorClass::ServerError | ErrorClass::Network => {
                Self::Transient
            }
            ErrorClass::Timeout => match deadline {
                Deadline::Silence => Self::Transient,
                Deadline::Whole => Self::Logic,
            },
            ErrorClass::QuotaExhausted | ErrorClass::BudgetRefused => Self::Resource,
            ErrorClass::AuthMissing
            | ErrorClass::AuthInvalid
            | ErrorClass::ModelNotFound
            | ErrorClass::ProviderNotConnected
            | ErrorClass::PermissionWaiting
            | ErrorClass::OpencodeMissing
            | ErrorClass::OpencodeUnhealthy => Self::Environment,
            ErrorClass::EmptyResponse
            | ErrorClass::Truncated
            | ErrorClass::ContentFiltered
            | ErrorClass::ContextOverflow
            | ErrorClass::StructuredOutputFailed
            | ErrorClass::CapabilityMissing => Self::Logic,
        })
    }
}

impl fmt::Display for FailureMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Which timer ended a run that timed out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deadline {
    /// Nothing was heard for too long.
    Silence,
    /// The whole took too long.
    Whole,
}

/// What a verdict rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Evidence {
    /// An answer came. Whether it is any good, nobody has looked.
    Answered,
    /// The answer fits its schema, in form.
    Structured,
    /// A person said so.
    Reported,
    /// Another model compared and said so.
    Judged,
    /// A command was run and showed it.
    Verified,
}

impl Evidence {
    pub const ALL: [Self; 5] = [Self::Answered, Self::Structured, Self::Reported, Self::Judged, Self::Verified];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Answered => "answered",
            Self::Structured => "structured",
            Self::Reported => "reported",
            Self::Judged => "judged",
            Self::Verified => "verified",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|evidence| evidence.as_str() == text)
    }

    /// Whether a success that rests on it shows that the work was good, and not only that there was some.
    #[must_use]
    pub fn is_proof(self) -> bool {
        match self {
            Self::Answered | Self::Structured => false,
            Self::Reported | Self::Judged | Self::Verified => true,
        }
    }
}
