//! Why work leaves a model for another one.

use crate::ErrorClass;

word_enum! {
    /// Why work leaves a model for another one.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Trigger {
        RateLimit = "rate_limit",
        Quota = "quota",
        Overloaded = "overloaded",
        Timeout = "timeout",
        ApiError = "api_error",
        AuthError = "auth_error",
        /// The model cannot do it; another one of the same strength would not either.
        Capability = "capability",
    }
}

impl Trigger {
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
