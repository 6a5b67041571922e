//! Success or failure of a prompt, decided only by the messages that are read back. Pure.

use super::{
    classify::{classify, presentable},
    types::{MessageWithParts, RunError},
};
use crate::error_as_answer::error_as_answer;
use serde_json::Value;
use shuntyard_core::{ErrorClass, ModelRef, Nano, Usage, limits::Steps};

#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub text: String,
    pub structured: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    pub class: ErrorClass,
    pub message: String,
}

impl Failure {
    #[must_use]
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        Self { class, message: message.into() }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    pub outcome: Result<Answer, Failure>,
    /// The answer, also when the outcome is a failure.
    pub text: String,
    pub answered_by: Option<ModelRef>,
    pub tool_calls: u32,
    /// An answer had begun for which no tokens were reported: its cost cannot be known.
    pub unreported: bool,
    /// The usage that the messages of this run report; descendants are not part of it.
    pub usage: Usage,
    pub cost: Option<Nano>,
}

/// What the answer has to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    Text,
    Structured,
}

/// Judges the run that the user message `prompt` started.
///
/// Everything after that message belongs to it: one prompt is in flight per session, and after a
/// compaction the answer hangs on another message than ours.
#[must_use]
pub fn judge(messages: &[MessageWithParts], prompt: &str, expect: Expect, error: Option<&RunError>) -> Verdict {
    let ours = messages.iter().position(|message| message.info.id == prompt);
    let run: Vec<&MessageWithParts> = ours
        .map_or(&[][..], |index| &messages[index + 1..])
        .iter()
        .filter(|message| message.info.role == "assistant")
        .collect();
    let tool_calls = run.iter().flat_map(|message| &message.parts).filter(|part| is_work(part)).count();
    let last = run.last();
    Verdict {
        outcome: outcome(last.copied(), expect, error),
        text: last.map(|message| text_of(message)).unwrap_or_default(),
        answered_by: last.and_then(|message| message.info.model()),
        tool_calls: u32::try_from(tool_calls).unwrap_or(u32::MAX),
        unreported: run.iter().any(|message| is_cut_off(message)),
        usage: run.iter().map(|message| Usage::from(message.info.tokens)).sum(),
        // Fractions of a nano-dollar are rounded once, after the sum.
        cost: Nano::from_usd(run.iter().map(|message| message.info.cost).sum()),
    }
}

fn outcome(last: Option<&MessageWithParts>, expect: Expect, error: Option<&RunError>) -> Result<Answer, Failure> {
    let failed = |class, message: &str| Err(Failure::new(class, message));
    let Some(last) = last else {
        return match error {
            Some(error) => Err(Failure::new(classify(error), presentable(&error.data.message))),
            None => failed(ErrorClass::EmptyResponse, "the run ended without any answer"),
        };
    };
    if let Some(error) = &last.info.error {
        let message = if error.data.message.is_empty() { &error.name } else { &error.data.message };
        return Err(Failure::new(classify(error), presentable(message)));
    }
    if last.info.time.completed.is_none() {
        return failed(ErrorClass::ServerError, "the answer was never completed");
    }
    if let Some(structured) = &last.info.structured {
        return Ok(Answer { text: text_of(last), structured: Some(structured.clone()) });
    }
    let text = text_of(last);
    match last.info.finish.as_deref() {
        Some("length") => failed(ErrorClass::Truncated, "the answer reached the model's output limit"),
        Some("content-filter") => failed(ErrorClass::ContentFiltered, "the provider's filter stopped the answer"),
        Some("stop") if expect == Expect::Structured => {
            failed(ErrorClass::StructuredOutputFailed, "the model answered with text instead of the structure")
        }
        Some("stop") if text.trim().is_empty() => {
            failed(ErrorClass::EmptyResponse, "the model finished without an answer")
        }
        Some("stop") => match error_as_answer(&text) {
            Some(class) => Err(Failure::new(class, presentable(&text))),
            None => Ok(Answer { text, structured: None }),
        },
        Some("tool-calls") => failed(ErrorClass::EmptyResponse, "the run ended after a tool call, without an answer"),
        Some(other) => Err(Failure::new(ErrorClass::ServerError, format!("the answer ended with `{other}`"))),
        None => failed(ErrorClass::EmptyResponse, "the run stopped before the model finished"),
    }
}

fn text_of(message: &MessageWithParts) -> String {
    let texts: Vec<&str> = message
        .parts
        .iter()
        .filter(|part| part.kind == "text" && !part.synthetic && !part.text.is_empty())
        .map(|part| part.text.as_str())
        .collect();
    texts.join("\n")
}

/// Whether it is a tool that leaves something to go on with, and does not hand over the answer itself.
pub(super) fn is_work(part: &super::types::Part) -> bool {
    part.kind == "tool" && part.tool != "StructuredOutput"
}

/// The requests to a model that these messages show, from a moment on in milliseconds since the Unix epoch.
pub(super) fn steps(messages: &[MessageWithParts], since: i64) -> Steps {
    #[expect(clippy::cast_precision_loss, reason = "milliseconds are far below 2^53")]
    let since = since as f64;
    let is_ours = |message: &&MessageWithParts| {
        message.info.role == "assistant" && message.info.time.created.is_none_or(|created| created >= since)
    };
    let mut steps = Steps::default();
    for message in messages.iter().filter(is_ours) {
        if is_cut_off(message) {
            steps.cut_off += 1;
        } else {
            steps.ended += 1;
            steps.dearest = steps.dearest.max(Nano::from_usd(message.info.cost).unwrap_or_default());
        }
    }
    steps
}

/// Whether a request had begun whose tokens were never reported. OpenCode stores the message before it asks the model,
/// and its tokens when the answer and its tools have ended.
fn is_cut_off(message: &MessageWithParts) -> bool {
    let tokens = message.info.tokens;
    let nothing = tokens.input + tokens.output + tokens.reasoning + tokens.cache.read + tokens.cache.write <= 0.0;
    let aborted = message.info.error.as_ref().is_some_and(|error| error.name == "MessageAbortedError");
    let open = message.info.time.completed.is_none() && message.info.error.is_none();
    let has_content = message.parts.iter().any(|part| matches!(part.kind.as_str(), "text" | "reasoning" | "tool"));
    nothing && (aborted || open || has_content)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn messages(assistant: Value) -> Vec<MessageWithParts> {
        let user = json!({"info": {"id": "msg_1", "role": "user"}});
        serde_json::from_value(json!([user, assistant])).unwrap()
    }

    fn assistant(extra: Value, parts: Value) -> Value {
        let mut info = json!({"id": "msg_2", "role": "assistant", "parentID": "msg_1", "providerID": "p", "modelID": "m",
            "time": {"completed": 5}, "tokens": {"input": 1}});
        info.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
        json!({"info": info, "parts": parts})
    }

    fn class(assistant: Value, expect: Expect) -> Result<Answer, ErrorClass> {
        judge(&messages(assistant), "msg_1", expect, None).outcome.map_err(|failure| failure.class)
    }

    #[test]
    fn only_a_finished_answer_is_a_success() {
        let text = json!([{"type": "text", "text": "hello"}]);
        let ok = |text: &str| Ok(Answer { text: text.into(), structured: None });
        let table = [
            (json!({"finish": "stop"}), text.clone(), ok("hello")),
            (json!({"finish": "stop"}), json!([]), Err(ErrorClass::EmptyResponse)),
            (json!({"finish": "stop"}), json!([{"type": "text", "text": " \n"}]), Err(ErrorClass::EmptyResponse)),
            (json!({"finish": "stop", "time": {}}), text.clone(), Err(ErrorClass::ServerError)),
            (json!({"finish": "length"}), text.clone(), Err(ErrorClass::Truncated)),
            (json!({"finish": "content-filter"}), text.clone(), Err(ErrorClass::ContentFiltered)),
            (json!({"finish": "tool-calls"}), text.clone(), Err(ErrorClass::EmptyResponse)),
            (json!({"finish": "other"}), text.clone(), Err(ErrorClass::ServerError)),
            (json!({}), text.clone(), Err(ErrorClass::EmptyResponse)),
            (
                json!({"finish": "stop", "error": {"name": "APIError", "data": {"message": "x", "statusCode": 401}}}),
                text,
                Err(ErrorClass::AuthInvalid),
            ),
        ];
        for (info, parts, expected) in table {
            assert_eq!(class(assistant(info.clone(), parts), Expect::Text), expected, "{info}");
        }
    }

    #[test]
    fn a_structure_is_taken_from_its_own_field() {
        let found =
            class(assistant(json!({"finish": "tool-calls", "structured": {"a": 1}}), json!([])), Expect::Structured);
        assert_eq!(found, Ok(Answer { text: String::new(), structured: Some(json!({"a": 1})) }));
        let text = json!([{"type": "text", "text": "{\"a\":1}"}]);
        let missed = class(assistant(json!({"finish": "stop"}), text), Expect::Structured);
        assert_eq!(missed, Err(ErrorClass::StructuredOutputFailed));
    }

    #[test]
    fn no_answer_is_judged_by_the_error_event() {
        let user = messages(json!({"info": {"id": "msg_0", "role": "user"}}));
        let error: RunError =
            serde_json::from_value(json!({"name": "UnknownError", "data": {"message": "Model not found: a/b"}}))
                .unwrap();
        let verdict = judge(&user, "msg_1", Expect::Text, Some(&error));
        assert_eq!(verdict.outcome.map_err(|f| f.class), Err(ErrorClass::ModelNotFound));
        let silent = judge(&user, "msg_1", Expect::Text, None);
        assert_eq!(silent.outcome.map_err(|f| f.class), Err(ErrorClass::EmptyResponse));
    }

    #[test]
    fn answers_of_earlier_prompts_do_not_count() {
        let old = assistant(json!({"finish": "stop"}), json!([{"type": "text", "text": "old"}]));
        let verdict = judge(&messages(old), "msg_9", Expect::Text, None);
        assert_eq!(verdict.outcome.map_err(|f| f.class), Err(ErrorClass::EmptyResponse));
        assert_eq!(verdict.text, "");
    }

    #[test]
    fn a_begun_answer_without_tokens_has_an_unknown_cost() {
        let begun = assistant(json!({"tokens": {}}), json!([{"type": "text", "text": "hal"}]));
        assert!(judge(&messages(begun), "msg_1", Expect::Text, None).unreported);
        let refused = assistant(json!({"tokens": {}}), json!([]));
        assert!(!judge(&messages(refused), "msg_1", Expect::Text, None).unreported);
    }

    #[test]
    fn each_message_is_a_step_that_ended_or_was_cut_off() {
        let text = || json!([{"type": "text", "text": "hal"}]);
        let aborted = json!({"name": "MessageAbortedError", "data": {}});
        let refused = json!({"name": "APIError", "data": {"message": "x", "statusCode": 401}});
        let ended = Steps { ended: 1, ..Steps::default() };
        let cut_off = Steps { cut_off: 1, ..Steps::default() };
        for (what, info, parts, expected) in [
            ("answered", json!({"cost": 0.002}), text(), Steps { dearest: Nano(2_000_000), ..ended }),
            ("the server died before the first token", json!({"tokens": {}, "time": {}}), json!([]), cut_off),
            ("the server died in the middle", json!({"tokens": {}, "time": {}}), text(), cut_off),
            ("stopped before the first token", json!({"tokens": {}, "error": aborted}), json!([]), cut_off),
            ("refused by the provider", json!({"tokens": {}, "error": refused}), json!([]), ended),
            ("of an earlier prompt", json!({"tokens": {}, "time": {"created": 9}}), text(), Steps::default()),
            ("of this prompt", json!({"tokens": {}, "time": {"created": 10}}), text(), cut_off),
        ] {
            assert_eq!(steps(&messages(assistant(info, parts)), 10), expected, "{what}");
        }
    }
}
