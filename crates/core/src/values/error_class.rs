//! The closed list of ways in which work can fail, each with what it means for the next try.

use std::fmt;

word_enum! {
    /// What went wrong, as scripts and fallback rules see it.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum ErrorClass {
        AuthMissing = "auth_missing",
        AuthInvalid = "auth_invalid",
        ModelNotFound = "model_not_found",
        ProviderNotConnected = "provider_not_connected",
        RateLimited = "rate_limited",
        QuotaExhausted = "quota_exhausted",
        Overloaded = "overloaded",
        Timeout = "timeout",
        ServerError = "server_error",
        Network = "network",
        EmptyResponse = "empty_response",
        Truncated = "truncated",
        ContentFiltered = "content_filtered",
        ContextOverflow = "context_overflow",
        StructuredOutputFailed = "structured_output_failed",
        PermissionWaiting = "permission_waiting",
        CapabilityMissing = "capability_missing",
        BudgetRefused = "budget_refused",
        Cancelled = "cancelled",
        OpencodeMissing = "opencode_missing",
        OpencodeUnhealthy = "opencode_unhealthy",
    }
}

impl ErrorClass {
    /// Whether the same request may succeed later, unchanged.
    #[must_use]
    pub fn retryable(self) -> bool {
        match self {
            Self::RateLimited
            | Self::QuotaExhausted
            | Self::Overloaded
            | Self::Timeout
            | Self::ServerError
            | Self::Network
            | Self::EmptyResponse
            | Self::OpencodeUnhealthy => true,
            Self::AuthMissing
            | Self::AuthInvalid
            | Self::ModelNotFound
            | Self::ProviderNotConnected
            | Self::Truncated
            | Self::ContentFiltered
            | Self::ContextOverflow
            | Self::StructuredOutputFailed
            | Self::PermissionWaiting
            | Self::CapabilityMissing
            | Self::BudgetRefused
            | Self::Cancelled
            | Self::OpencodeMissing => false,
        }
    }

    /// What a person can do about it.
    #[must_use]
    pub fn hint(self) -> &'static str {
        match self {
            Self::AuthMissing => "log the provider in with `opencode auth login`, or set its key in the environment",
            Self::AuthInvalid => "renew the key with `opencode auth login`, then `shuntyard providers check --force`",
            Self::ModelNotFound => "see what there is with `shuntyard models`",
            Self::ProviderNotConnected => {
                "connect it with `opencode auth login`; `shuntyard providers` shows those that are"
            }
            Self::RateLimited => "wait a little, or let another model answer with --fallback",
            Self::QuotaExhausted => {
                "the allowance is used up until it resets: let another model answer with --fallback"
            }
            Self::Overloaded => "the provider is overloaded: try again, or let another model answer with --fallback",
            Self::Timeout => "give it longer with --timeout, or name a faster model with -m",
            Self::ServerError => "the provider failed: try again, or let another model answer with --fallback",
            Self::Network => "check the connection to the provider, then try again",
            Self::EmptyResponse => "the model finished without an answer: try again, or name another model with -m",
            Self::Truncated => {
                "a limit was reached: ask for less, allow an agent more with --steps, or name a model with a larger output"
            }
            Self::ContentFiltered => {
                "the provider's filter stopped the answer: rephrase, or name another model with -m"
            }
            Self::ContextOverflow => "the prompt is too long for this model: shorten it, or name one with more context",
            Self::StructuredOutputFailed => "simplify the schema, or name a model that is better at structured output",
            Self::PermissionWaiting => "the run waited for a permission: allow it in OpenCode's configuration",
            Self::CapabilityMissing => {
                "find one that can with `shuntyard models --need vision` (or tools, reasoning, structured)"
            }
            Self::BudgetRefused => "see `shuntyard budget status`; raise the limit, or name a cheaper model",
            Self::Cancelled => "run it again when you are ready",
            Self::OpencodeMissing => "install it with `shuntyard opencode install`",
            Self::OpencodeUnhealthy => {
                "look at `shuntyard opencode status`, then `shuntyard opencode stop` and try again"
            }
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_match_their_json() {
        for class in ErrorClass::ALL {
            assert_eq!(ErrorClass::parse(class.as_str()), Some(class));
            assert_eq!(serde_json::to_value(class).ok(), Some(class.as_str().into()));
        }
    }
}
