//! A gateway that puts a provider's error into the mouth of the model: status 200, and the whole answer is the error.
//!
//! A model's text is never searched for error words. Only an answer that from its first character on is nothing but
//! the error in one of the forms that gateways use is taken for one; a text about errors is not.

use crate::provider_error::{by_status, by_words};
use serde_json::Value;
use shuntyard_core::ErrorClass;

/// Errors are short; what is longer is an answer.
const LONGEST: usize = 2000;
const MOST_LINES: usize = 4;

/// The kinds that the large providers give their errors.
const KINDS: [&str; 12] = [
    "overloaded_error",
    "rate_limit_error",
    "rate_limit_exceeded",
    "insufficient_quota",
    "api_error",
    "server_error",
    "internal_server_error",
    "authentication_error",
    "permission_error",
    "invalid_request_error",
    "not_found_error",
    "request_too_large",
];

/// The class of an answer that is nothing but an error.
pub(crate) fn error_as_answer(text: &str) -> Option<ErrorClass> {
    let text = text.trim();
    if text.len() > LONGEST || text.lines().count() > MOST_LINES {
        return None;
    }
    if text.starts_with('{') {
        return in_json(text);
    }
    let lower = text.to_lowercase();
    let after = |start: &str| lower.strip_prefix(start).map(|rest| rest.trim_start_matches([':', ' ']));
    if let Some(rest) = after("api error") {
        return status(rest).map(|code| by_status(code, rest)).or_else(|| in_json(rest)).or_else(|| by_words(rest));
    }
    let rest = ["error code", "http error", "error", "http"].into_iter().find_map(after)?;
    // What follows the number has to be its explanation, not a sentence about it.
    let code = status(rest)?;
    let tail = rest[3..].trim_start();
    let explains = tail.is_empty() || tail.starts_with(['-', '{', ':', '(']) || is_reason(tail);
    explains.then(|| by_status(code, rest))
}

/// A three-digit number of an error, as a word of its own.
fn status(text: &str) -> Option<u16> {
    let digits: String = text.chars().take_while(char::is_ascii_digit).collect();
    let code = digits.parse().ok().filter(|code| digits.len() == 3 && (400..600).contains(code))?;
    Some(code)
}

/// The reason phrases that servers send with a number.
fn is_reason(text: &str) -> bool {
    let phrases = [
        "bad request",
        "unauthorized",
        "forbidden",
        "not found",
        "too many requests",
        "internal server error",
        "bad gateway",
        "service unavailable",
        "gateway timeout",
        "overloaded",
    ];
    phrases.iter().any(|phrase| text.trim_end_matches(['.', '!']) == *phrase)
}

/// `{"error": {"type": "overloaded_error", "message": "…"}}` and its like, with one of the known kinds.
fn in_json(text: &str) -> Option<ErrorClass> {
    let value: Value = serde_json::from_str(text).ok()?;
    let error = value.get("error")?.as_object()?;
    let word = |key: &str| error.get(key).and_then(Value::as_str).unwrap_or_default().to_lowercase();
    let kinds = [word("type"), word("code")];
    let kind = kinds.iter().find(|kind| KINDS.contains(&kind.as_str()))?;
    let said = format!("{kind} {}", word("message"));
    Some(match kind.as_str() {
        "not_found_error" => ErrorClass::ModelNotFound,
        "authentication_error" | "permission_error" => ErrorClass::AuthInvalid,
        "request_too_large" => ErrorClass::ContextOverflow,
        _ => by_words(&said).unwrap_or(ErrorClass::ServerError),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_answer_that_is_an_error_is_one() {
        let table = [
            ("API Error: 500 Internal server error", Some(ErrorClass::ServerError)),
            ("API Error: 529 {\"type\":\"error\"}", Some(ErrorClass::Overloaded)),
            ("API Error: Connection error.", Some(ErrorClass::Network)),
            ("api error: rate limit reached for this model", Some(ErrorClass::RateLimited)),
            ("Error code: 429 - {'error': {'message': 'slow down'}}", Some(ErrorClass::RateLimited)),
            ("HTTP 503 Service Unavailable", Some(ErrorClass::Overloaded)),
            ("Error: 401", Some(ErrorClass::AuthInvalid)),
            (
                r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
                Some(ErrorClass::Overloaded),
            ),
            (r#"{"error":{"message":"no more","code":"insufficient_quota"}}"#, Some(ErrorClass::QuotaExhausted)),
            ("API Error: this is what the log shows when a key is wrong", None),
            ("HTTP 503 means that the service is not available", None),
            ("Error 404 pages should be friendly", None),
            ("The API Error: 500 comes from the proxy", None),
            (r#"{"error":{"message":"an example","type":"my_error"}}"#, None),
            (r#"{"error":"no such user"}"#, None),
            ("42", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(error_as_answer(text), expected, "{text}");
        }
        let long = format!("API Error: 500 {}", "x".repeat(LONGEST));
        assert_eq!(error_as_answer(&long), None);
        let lines = "API Error: 500\n".repeat(MOST_LINES + 1);
        assert_eq!(error_as_answer(&lines), None);
    }
}
