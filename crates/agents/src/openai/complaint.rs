//! A provider's refusal, in the many shapes in which providers send it. Pure.

use crate::provider_error::{by_status, by_words};
use serde_json::Value;
use shuntyard_core::ErrorClass;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Complaint {
    /// The HTTP status, or the one that the error object names.
    pub(super) status: Option<u16>,
    /// As it came: not yet fit to be shown.
    pub(super) message: String,
    /// All its text, in lowercase, with and without underscores.
    pub(super) words: String,
}

impl Complaint {
    /// A complaint in an answer that should have been one: an error object, or something that is no chunk at all.
    pub(super) fn in_answer(value: &Value) -> Self {
        let error = inner(value);
        let (message, words) = told(error);
        Self { status: named_status(error).or_else(|| named_status(value)), message, words }
    }

    pub(super) fn in_refusal(status: u16, body: &[u8]) -> Self {
        if let Ok(value) = serde_json::from_slice::<Value>(body) {
            return Self { status: Some(status), ..Self::in_answer(&value) };
        }
        let text = String::from_utf8_lossy(body);
        let message = if text.trim_start().starts_with('<') { String::new() } else { text.trim().to_owned() };
        Self { status: Some(status), words: searchable(&text), message }
    }

    pub(super) fn class(&self) -> ErrorClass {
        let names_a_model = self.words.contains("model not found");
        match self.status {
            None | Some(400 | 422) if names_a_model => ErrorClass::ModelNotFound,
            Some(status) => by_status(status, &self.words),
            None => by_words(&self.words).unwrap_or(ErrorClass::ServerError),
        }
    }

    /// Whether the same request may be taken in a moment.
    pub(super) fn may_pass(&self) -> bool {
        match (self.status, self.class()) {
            (_, ErrorClass::QuotaExhausted) => false,
            (Some(status), _) => matches!(status, 408 | 409 | 425 | 429 | 500..),
            (None, class) => matches!(
                class,
                ErrorClass::RateLimited
                    | ErrorClass::Overloaded
                    | ErrorClass::Timeout
                    | ErrorClass::Network
                    | ErrorClass::ServerError
            ),
        }
    }
}

/// The object that holds the reason, out of what is wrapped around it.
fn inner(value: &Value) -> &Value {
    let mut value = value;
    // A few layers are all that was ever seen; a hostile answer may have thousands.
    for _ in 0..4 {
        let next = match value {
            Value::Array(list) => list.first(),
            Value::Object(object) => {
                ["error", "errors", "detail"].iter().filter_map(|name| object.get(*name)).find(|inner| !inner.is_null())
            }
            _ => None,
        };
        match next {
            Some(next) => value = next,
            None => break,
        }
    }
    value
}

fn told(error: &Value) -> (String, String) {
    let text = |pointer: &str| match error.pointer(pointer) {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Number(number)) => number.to_string(),
        _ => String::new(),
    };
    let message = match error {
        Value::String(text) => text.clone(),
        _ => ["/message", "/msg", "/error_description"]
            .map(text)
            .into_iter()
            .find(|text| !text.is_empty())
            .unwrap_or_default(),
    };
    // Routers put the message of the provider behind them here, and only generalities into the message.
    let behind = text("/metadata/raw");
    let said: Vec<&str> = [message.as_str(), behind.as_str()].into_iter().filter(|text| !text.is_empty()).collect();
    let mut said = said.join(": ");
    let marks = ["/type", "/code", "/param", "/status"].map(text);
    let words = searchable(&[&[said.clone()], &marks[..]].concat().join(" "));
    if said.is_empty() {
        said = marks.into_iter().find(|mark| !mark.is_empty()).unwrap_or_default();
    }
    (said, words)
}

fn searchable(text: &str) -> String {
    let lower = text.to_lowercase();
    if !lower.contains('_') {
        return lower;
    }
    let spaced = lower.replace('_', " ");
    [lower, spaced].join(" ")
}

fn named_status(error: &Value) -> Option<u16> {
    ["code", "status", "status_code"].iter().find_map(|name| {
        let status = match error.get(*name)? {
            Value::Number(number) => number.as_u64().and_then(|number| u16::try_from(number).ok()),
            Value::String(text) => text.parse().ok(),
            _ => None,
        };
        status.filter(|status| (400..600).contains(status))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn complaints_in_answers() {
        let table = [
            (json!({"error": {"message": "boom"}}), "boom", ErrorClass::ServerError, true),
            (json!({"error": "Rate limit reached"}), "Rate limit reached", ErrorClass::RateLimited, true),
            (json!({"error": {"message": "busy", "code": 503}}), "busy", ErrorClass::Overloaded, true),
            (json!({"error": {"message": "no", "code": "401"}}), "no", ErrorClass::AuthInvalid, false),
            (
                json!({"error": {"message": "x", "code": "context_length_exceeded"}}),
                "x",
                ErrorClass::ContextOverflow,
                false,
            ),
            (json!({"error": {"message": "x", "type": "insufficient_quota"}}), "x", ErrorClass::QuotaExhausted, false),
            (json!({"error": {"message": "x", "code": "invalid_api_key"}}), "x", ErrorClass::AuthInvalid, false),
            (json!({"error": {"code": "model_not_found"}}), "model_not_found", ErrorClass::ModelNotFound, false),
            (
                json!({"error": {"message": "upstream error", "code": 502, "metadata": {"raw": "overloaded"}}}),
                "upstream error: overloaded",
                ErrorClass::Overloaded,
                true,
            ),
            (json!({"object": "error", "message": "bad", "code": 400}), "bad", ErrorClass::ServerError, false),
            (json!({"detail": [{"msg": "field required"}]}), "field required", ErrorClass::ServerError, true),
            (json!([{"error": {"message": "listed", "status": 429}}]), "listed", ErrorClass::RateLimited, true),
            (json!({"error": {}}), "", ErrorClass::ServerError, true),
            (json!({"error": 7}), "", ErrorClass::ServerError, true),
        ];
        for (value, message, class, may_pass) in table {
            let complaint = Complaint::in_answer(&value);
            assert_eq!(complaint.message, message, "{value}");
            assert_eq!((complaint.class(), complaint.may_pass()), (class, may_pass), "{value}");
        }
    }

    #[test]
    fn refusals_are_judged_by_their_status_first() {
        let table: [(u16, &[u8], &str, ErrorClass, bool); 9] = [
            (429, b"slow down", "slow down", ErrorClass::RateLimited, true),
            (
                429,
                br#"{"error":{"message":"You exceeded your current quota"}}"#,
                "You exceeded your current quota",
                ErrorClass::QuotaExhausted,
                false,
            ),
            (401, br#"{"error":{"message":"no","code":500}}"#, "no", ErrorClass::AuthInvalid, false),
            (
                400,
                br#"{"error":{"message":"model not found: x"}}"#,
                "model not found: x",
                ErrorClass::ModelNotFound,
                false,
            ),
            (404, b"<html>nginx</html>", "", ErrorClass::ModelNotFound, false),
            (502, b" <!doctype html><title>Bad gateway</title>", "", ErrorClass::ServerError, true),
            (503, b"", "", ErrorClass::Overloaded, true),
            (413, b"\xff\xfe", "\u{fffd}\u{fffd}", ErrorClass::ContextOverflow, false),
            (500, b"{\"error\":", "{\"error\":", ErrorClass::ServerError, true),
        ];
        for (status, body, message, class, may_pass) in table {
            let complaint = Complaint::in_refusal(status, body);
            let found = (complaint.message.as_str(), complaint.class(), complaint.may_pass());
            assert_eq!(found, (message, class, may_pass), "{status}");
        }
    }
}
