//! From the errors of OpenCode and providers to our error classes. Pure; tested by a table.
//!
//! Only error channels are read here, never a model's text.

pub use crate::provider_error::presentable;

use super::types::RunError;
use crate::provider_error::{by_status, by_words, is_quota_wait};
use shuntyard_core::ErrorClass;
use std::time::Duration;

/// The class of an error that a message or a `session.error` event carries.
#[must_use]
pub fn classify(error: &RunError) -> ErrorClass {
    let text = error.data.message.to_lowercase();
    match error.name.as_str() {
        "ProviderAuthError" => ErrorClass::AuthInvalid,
        "MessageAbortedError" => ErrorClass::Cancelled,
        "MessageOutputLengthError" => ErrorClass::Truncated,
        "StructuredOutputError" => ErrorClass::StructuredOutputFailed,
        "ContextOverflowError" => ErrorClass::ContextOverflow,
        "ContentFilterError" => ErrorClass::ContentFiltered,
        "APIError" => match error.data.status_code {
            Some(status) => by_status(status, &text),
            None => by_words(&text).unwrap_or(ErrorClass::Network),
        },
        _ if text.contains("model not found") => ErrorClass::ModelNotFound,
        _ => by_words(&text).unwrap_or(ErrorClass::ServerError),
    }
}

/// The class of a provider that OpenCode is about to try again, from its status.
#[must_use]
pub fn classify_retry(message: &str, wait: Duration) -> ErrorClass {
    let text = message.to_lowercase();
    let class = by_words(&text).or_else(|| numbered_status(&text).map(|status| by_status(status, &text)));
    match class {
        Some(ErrorClass::RateLimited) | None if is_quota_wait(wait) => ErrorClass::QuotaExhausted,
        Some(class) => class,
        None => ErrorClass::ServerError,
    }
}

/// A three-digit HTTP error status that stands alone in the text; a number inside a longer one is
/// not a status.
fn numbered_status(text: &str) -> Option<u16> {
    text.split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() == 3)
        .find_map(|word| word.parse::<u16>().ok().filter(|status| (400..600).contains(status)))
}

#[cfg(test)]
mod tests {
    use super::super::types::RunErrorData;
    use super::*;

    fn api(status: Option<u16>, message: &str) -> RunError {
        let data = RunErrorData { message: message.into(), status_code: status };
        RunError { name: "APIError".into(), data }
    }

    #[test]
    fn errors_of_messages() {
        let named = |name: &str, message: &str| RunError { name: name.into(), ..api(None, message) };
        let table = [
            (api(Some(400), "bad request"), ErrorClass::ServerError),
            (api(Some(400), "This model's maximum context length is 8192 tokens"), ErrorClass::ContextOverflow),
            (api(Some(401), "nope"), ErrorClass::AuthInvalid),
            (api(Some(402), "pay"), ErrorClass::QuotaExhausted),
            (api(Some(403), "no"), ErrorClass::AuthInvalid),
            (api(Some(404), "gone"), ErrorClass::ModelNotFound),
            (api(Some(429), "slow down"), ErrorClass::RateLimited),
            (api(Some(429), "You exceeded your current quota"), ErrorClass::QuotaExhausted),
            (api(Some(500), "boom"), ErrorClass::ServerError),
            (api(Some(503), "x"), ErrorClass::Overloaded),
            (api(Some(529), "x"), ErrorClass::Overloaded),
            (api(None, "The socket connection was closed unexpectedly"), ErrorClass::Network),
            (api(None, "Provider response headers timed out after 1500ms"), ErrorClass::Timeout),
            (named("UnknownError", "Model not found: nope/x."), ErrorClass::ModelNotFound),
            (named("UnknownError", "something else"), ErrorClass::ServerError),
            (named("ContextOverflowError", ""), ErrorClass::ContextOverflow),
            (named("ContentFilterError", ""), ErrorClass::ContentFiltered),
            (named("MessageOutputLengthError", ""), ErrorClass::Truncated),
            (named("StructuredOutputError", ""), ErrorClass::StructuredOutputFailed),
            (named("MessageAbortedError", ""), ErrorClass::Cancelled),
            (named("ProviderAuthError", ""), ErrorClass::AuthInvalid),
        ];
        for (error, class) in table {
            assert_eq!(classify(&error), class, "{error:?}");
        }
    }

    #[test]
    fn retries_of_the_provider() {
        let table = [
            ("scripted error 429", 2, ErrorClass::RateLimited),
            ("scripted error 429", 3600, ErrorClass::QuotaExhausted),
            ("Too Many Requests", 2, ErrorClass::RateLimited),
            ("Monthly usage limit reached", 2, ErrorClass::QuotaExhausted),
            ("scripted error 500", 2, ErrorClass::ServerError),
            ("scripted error 503", 2, ErrorClass::Overloaded),
            ("Provider is overloaded", 2, ErrorClass::Overloaded),
            ("The socket connection was closed", 2, ErrorClass::Network),
            ("saw 4290 of 50000", 2, ErrorClass::ServerError),
            ("", 86_400, ErrorClass::QuotaExhausted),
        ];
        for (message, seconds, class) in table {
            assert_eq!(classify_retry(message, Duration::from_secs(seconds)), class, "{message}");
        }
    }

    #[test]
    fn messages_are_presentable() {
        assert_eq!(presentable("bad key\n sk-abc123def456ghi"), "bad key [secret]");
        assert_eq!(presentable(&"x".repeat(1000)).chars().count(), 401);
    }
}
