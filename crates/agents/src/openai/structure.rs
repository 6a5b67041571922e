//! Finds the value in a text that should be JSON and may be wrapped in something else. Pure.

use serde_json::{Deserializer, Value};

/// The value that the text holds: all of it, in a fence, or the first object in prose. Whether it fits is for the
/// caller to check.
pub(super) fn find(text: &str) -> Option<Value> {
    let text = text.trim();
    if let Ok(value) = serde_json::from_str(text) {
        return Some(value);
    }
    fenced(text).or_else(|| first_object(text))
}

fn fenced(text: &str) -> Option<Value> {
    let inside = &text[text.find("```")? + 3..];
    let inside = inside.find(['\n', '{', '[']).map_or(inside, |start| &inside[start..]);
    // Read as one value: a string in it may hold a fence of its own.
    Deserializer::from_str(inside).into_iter().next()?.ok()
}

fn first_object(text: &str) -> Option<Value> {
    let inside = &text[text.find('{')?..];
    Deserializer::from_str(inside).into_iter().next()?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_are_found_in_what_models_wrap_around_them() {
        let value = || Some(json!({"a": 1}));
        let table = [
            ("{\"a\":1}", value()),
            (" \n{\"a\": 1}\n ", value()),
            ("```json\n{\"a\":1}\n```", value()),
            ("```JSON\r\n{\"a\":1}\r\n```\nThere you are.", value()),
            ("```\n{\"a\":1}\n```", value()),
            ("```json {\"a\":1}```", value()),
            ("Here it is:\n```json\n{\"a\":1}\n```", value()),
            ("Here it is: {\"a\":1}. Anything else?", value()),
            ("```json\n{\"a\":\"``` and {\"}\n```", Some(json!({"a": "``` and {"}))),
            ("```json\n[1,2]\n```", Some(json!([1, 2]))),
            ("4", Some(json!(4))),
            ("no structure", None),
            ("{\"a\":", None),
            ("```json\n", None),
            ("```", None),
            ("", None),
        ];
        for (text, expected) in table {
            assert_eq!(find(text), expected, "{text}");
        }
        assert_eq!(find(&"{\"a\":".repeat(100_000)), None, "a deep nesting ends in no stack overflow");
    }
}
