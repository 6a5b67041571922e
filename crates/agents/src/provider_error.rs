//! How providers report errors, over either transport. Pure; the tables of tests are with the callers.
//!
//! Only error channels are read here, never a model's text.

use shuntyard_core::{ErrorClass, values::redact::redact};
use std::time::Duration;

/// A wait longer than this is an allowance that ran out, not a burst that passes.
const QUOTA_WAIT: Duration = Duration::from_secs(300);

/// Whether a wait that a provider asks for means that its allowance is used up.
pub(crate) fn is_quota_wait(wait: Duration) -> bool {
    wait > QUOTA_WAIT
}

/// A message as people may see it: one line, no secrets, not endless.
#[must_use]
pub fn presentable(message: &str) -> String {
    let line = redact(message).split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= 400 {
        return line;
    }
    let mut short: String = line.chars().take(400).collect();
    short.push('…');
    short
}

/// The class of a refusal with this HTTP status; `text` is lowercase.
pub(crate) fn by_status(status: u16, text: &str) -> ErrorClass {
    match status {
        401 | 403 => ErrorClass::AuthInvalid,
        402 => ErrorClass::QuotaExhausted,
        404 => ErrorClass::ModelNotFound,
        408 => ErrorClass::Timeout,
        413 => ErrorClass::ContextOverflow,
        429 if speaks_of_quota(text) => ErrorClass::QuotaExhausted,
        429 => ErrorClass::RateLimited,
        503 | 529 => ErrorClass::Overloaded,
        _ => by_words(text).unwrap_or(ErrorClass::ServerError),
    }
}

/// The class that a provider's words name, if they name one; `text` is lowercase.
pub(crate) fn by_words(text: &str) -> Option<ErrorClass> {
    let any = |words: &[&str]| words.iter().any(|word| text.contains(word));
    if speaks_of_quota(text) {
        Some(ErrorClass::QuotaExhausted)
    } else if any(&["rate limit", "rate_limit", "too many requests", "ratelimit"]) {
        Some(ErrorClass::RateLimited)
    } else if any(&["overloaded", "service unavailable", "at capacity"]) {
        Some(ErrorClass::Overloaded)
    } else if any(&["context length", "maximum context", "prompt is too long", "context window"]) {
        Some(ErrorClass::ContextOverflow)
    } else if any(&["content filter", "content_filter", "content policy"]) {
        Some(ErrorClass::ContentFiltered)
    } else if any(&["invalid api key", "incorrect api key", "unauthorized", "authentication"]) {
        Some(ErrorClass::AuthInvalid)
    } else if any(&["timed out", "timeout"]) {
        Some(ErrorClass::Timeout)
    } else if any(&[
        "econnreset",
        "econnrefused",
        "enotfound",
        "socket",
        "connection",
        "connect",
        "fetch failed",
        "network",
    ]) {
        Some(ErrorClass::Network)
    } else {
        None
    }
}

fn speaks_of_quota(text: &str) -> bool {
    ["quota", "usage limit", "insufficient_quota", "billing", "credit balance", "insufficient credits", "monthly limit"]
        .iter()
        .any(|word| text.contains(word))
}
