//! Why work leaves a model for another one.

use crate::ErrorClass;
use serde::{Deserialize, Serialize};

/// Why work leaves a model for another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trigger {
    RateLimit,
    Quota,
    Overloaded,
    Timeout,
    ApiError,
    AuthError,
    /// The model cannot do it; another one of the same strength would not either.
    Capability,
}

impl Trigger {
    pub const ALL: [Self; 7] = [
        Self::RateLimit,
        Self::Quota,
        Self::Overloaded,
        Self::Timeout,
        Self::ApiError,
        Self::AuthError,
        Self::Capability,
    ];

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::RateLimit => "rate_limit",
            Self::Quota => "quota",
            Self::Overloaded => "overloaded",
            Self::Timeout => "timeout",
            Self::ApiError => "api_error",
            Self::AuthError => "auth_error",
            Self::Capability => "capability",
        }
    }

    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|trigger| trigger.as_str() == text)
    }

    /// The trigger that a failure pulls. `None`: another model is no answer to it.
    #[must_use]
    pub fn of(class: ErrorClass) -> Option<Self> {
        match class {
            ErrorClass::RateLimited => Some(Self::RateLimit),
            ErrorClass::QuotaExhausted => Some(Self::Quota),
            ErrorClass::Overloaded => Some(Self::Overloaded),
            ErrorClass::Timeout => Some(Self::Timeout),
            ErrorClass::ServerError
            | ErrorClass::Network
            | ErrorClass::EmptyResponse
            | ErrorClass::ModelNotFound
            | ErrorClass::ProviderNotConnected => Some(Self::ApiError),
            ErrorClass::AuthMissing | ErrorClass::AuthInvalid => Some(Self::AuthError),
            ErrorClass::ContextOverflow | ErrorClass::StructuredOutputFailed => Some(Self::Capability),
            ErrorClass::Truncated
            | ErrorClass::ContentFiltered
            | ErrorClass::PermissionWaiting
            | ErrorClass::CapabilityMissing
            | ErrorClass::BudgetRefused
            | ErrorClass::Cancelled
            | ErrorClass::OpencodeMissing
            | ErrorClass::OpencodeUnhealthy => None,
        }
    }
}
