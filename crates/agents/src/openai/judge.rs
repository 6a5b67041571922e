//! Success or failure of an answer whose stream has ended, decided only by what was received. Pure.

use super::{heard::Heard, structure};
use crate::{
    error_as_answer::error_as_answer,
    opencode::{Expect, Failure},
    provider_error::presentable,
};
use serde_json::Value;
use shuntyard_core::ErrorClass;

/// The structure that the answer holds, or why it is no success.
pub(super) fn judge(heard: &Heard, expect: Expect) -> Result<Option<Value>, Failure> {
    let failed = |class, message: &str| Err(Failure::new(class, message));
    let is_empty = heard.text.trim().is_empty();
    match heard.finish.as_deref() {
        Some("length" | "max_tokens") => failed(ErrorClass::Truncated, "the answer reached the model's output limit"),
        Some("content_filter") => failed(ErrorClass::ContentFiltered, "the provider's filter stopped the answer"),
        Some("stop" | "eos" | "end_turn") if is_empty && !heard.refusal.is_empty() => {
            failed(ErrorClass::ContentFiltered, "the model refused to answer")
        }
        Some("stop" | "eos" | "end_turn") if is_empty => {
            failed(ErrorClass::EmptyResponse, "the model finished without an answer")
        }
        Some("stop" | "eos" | "end_turn") => match expect {
            Expect::Text => match error_as_answer(&heard.text) {
                Some(class) => Err(Failure::new(class, presentable(&heard.text))),
                None => Ok(None),
            },
            Expect::Structured => match structure::find(&heard.text) {
                Some(value) => Ok(Some(value)),
                None => {
                    failed(ErrorClass::StructuredOutputFailed, "the model answered with text instead of the structure")
                }
            },
        },
        Some("tool_calls" | "function_call") => {
            failed(ErrorClass::EmptyResponse, "the model called a tool that it does not have, without an answer")
        }
        Some(other) => {
            let shown: String = other.chars().take(40).collect();
            Err(Failure::new(ErrorClass::ServerError, format!("the answer ended with `{shown}`")))
        }
        None if heard.is_done && is_empty => failed(ErrorClass::EmptyResponse, "the stream ended without an answer"),
        None if heard.is_done => failed(ErrorClass::ServerError, "the answer ended without saying that it is whole"),
        None => failed(ErrorClass::Network, "the answer broke off before its end"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn heard(text: &str, finish: Option<&str>) -> Heard {
        Heard { text: text.into(), finish: finish.map(str::to_owned), ..Heard::default() }
    }

    #[test]
    fn only_a_finished_answer_is_a_success() {
        let table = [
            ("hello", Some("stop"), Ok(None)),
            ("", Some("stop"), Err(ErrorClass::EmptyResponse)),
            (" \n", Some("stop"), Err(ErrorClass::EmptyResponse)),
            ("hal", Some("length"), Err(ErrorClass::Truncated)),
            ("", Some("length"), Err(ErrorClass::Truncated)),
            ("hal", Some("content_filter"), Err(ErrorClass::ContentFiltered)),
            ("hal", Some("tool_calls"), Err(ErrorClass::EmptyResponse)),
            ("hal", Some("banana"), Err(ErrorClass::ServerError)),
            ("hal", None, Err(ErrorClass::Network)),
            ("", None, Err(ErrorClass::Network)),
        ];
        for (text, finish, expected) in table {
            let found = judge(&heard(text, finish), Expect::Text).map_err(|failure| failure.class);
            assert_eq!(found, expected, "{text:?} {finish:?}");
        }
        let done = |text| judge(&Heard { is_done: true, ..heard(text, None) }, Expect::Text).map_err(|it| it.class);
        assert_eq!(done("hal"), Err(ErrorClass::ServerError));
        assert_eq!(done(""), Err(ErrorClass::EmptyResponse));
        let refused = Heard { refusal: "I will not".into(), ..heard("", Some("stop")) };
        assert_eq!(judge(&refused, Expect::Text).map_err(|it| it.class), Err(ErrorClass::ContentFiltered));
    }

    #[test]
    fn a_structure_has_to_be_one() {
        let found = |text| judge(&heard(text, Some("stop")), Expect::Structured).map_err(|failure| failure.class);
        assert_eq!(found("```json\n{\"a\":1}\n```"), Ok(Some(json!({"a": 1}))));
        assert_eq!(found("certainly!"), Err(ErrorClass::StructuredOutputFailed));
        assert_eq!(found(""), Err(ErrorClass::EmptyResponse));
        let cut = judge(&heard("{\"a\":1}", Some("length")), Expect::Structured).map_err(|failure| failure.class);
        assert_eq!(cut, Err(ErrorClass::Truncated));
    }
}
