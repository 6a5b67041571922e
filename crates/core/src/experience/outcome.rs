//! How a piece of work ended, and what follows from it about the model.

use crate::ErrorClass;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    Success,
    Failure,
}

word_enum! {
    /// Why work failed, as far as it matters for what to do next.
    #[derive(Hash)]
    pub enum FailureMode {
        /// It may work in a moment, unchanged.
        Transient = "TRANSIENT",
        /// A limit was reached: quota, money, memory.
        Resource = "RESOURCE",
        /// Something around it is not as it should be: a key, a program, a server.
        Environment = "ENVIRONMENT",
        /// The model did not manage.
        Logic = "LOGIC",
        /// Something has to happen first that the model cannot do.
        Blocked = "BLOCKED",
        /// The request does not determine what is wanted.
        Ambiguous = "AMBIGUOUS",
    }
}

impl FailureMode {
    /// Whether it is evidence of what the model can do.
    #[must_use]
    pub fn counts(self) -> bool {
        match self {
            Self::Transient | Self::Resource | Self::Environment => false,
            Self::Logic | Self::Blocked | Self::Ambiguous => true,
        }
    }

    /// What an error class means. A deadline that passed while a model was at work is the model's own; silence is
    /// the provider's. `None`: it was cancelled, and nothing was learned.
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
    /// No event came for too long.
    Silence,
    /// The whole took too long.
    Whole,
}

word_enum! {
    /// What a verdict rests on.
    #[derive(PartialOrd, Ord)]
    pub enum Evidence {
        /// An answer came; its quality was not checked.
        Answered = "answered",
        /// The answer fits its schema, in form.
        Structured = "structured",
        /// A person reported it.
        Reported = "reported",
        /// Another model compared and decided.
        Judged = "judged",
        /// A command was run and showed it.
        Verified = "verified",
    }
}

impl Evidence {
    /// Whether a success that rests on it shows that the work was good, and not only that there was some.
    #[must_use]
    pub fn is_proof(self) -> bool {
        match self {
            Self::Answered | Self::Structured => false,
            Self::Reported | Self::Judged | Self::Verified => true,
        }
    }
}
