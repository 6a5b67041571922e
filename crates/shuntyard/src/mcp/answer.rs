//! What a tool answers: a text that a model can act on, whose first line is the status, and the same as data.

use serde::Serialize;
use serde_json::{Map, Value, json};
use shuntyard_engine::queue::jobs::JobError;

#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    pub text: String,
    /// Always an object: older clients take nothing else.
    pub data: Map<String, Value>,
    pub outcome: Outcome,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Fine,
    /// The call, or its work, did not succeed.
    Failed,
}

impl Answer {
    pub fn new(text: impl Into<String>, data: Map<String, Value>) -> Self {
        Self { text: text.into(), data, outcome: Outcome::Fine }
    }

    pub fn failed(self) -> Self {
        Self { outcome: Outcome::Failed, ..self }
    }
}

impl From<JobError> for Answer {
    fn from(error: JobError) -> Self {
        let mut text = format!("error [{}]: {}", error.class, error.message);
        if !error.hint.is_empty() {
            text.push_str(&format!("\nnext: {}", error.hint));
        }
        let listed = error.valid.join(", ");
        if !listed.is_empty() && !error.hint.contains(&listed) {
            text.push_str(&format!("\nvalid: {listed}"));
        }
        let data = Map::from_iter([("error".to_owned(), json!(error))]);
        Self::new(text, data).failed()
    }
}

/// A value of ours with the names that clients of this protocol expect: `session_id` becomes `sessionId`. Only the
/// outermost names are ours; what is inside may be an answer of a model.
pub fn named(value: &impl Serialize) -> Map<String, Value> {
    let Ok(Value::Object(fields)) = serde_json::to_value(value) else { return Map::new() };
    fields.into_iter().map(|(name, value)| (camel(&name), value)).collect()
}

fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |mut name, word| {
        let mut letters = word.chars();
        name.extend(letters.next().map(|letter| letter.to_ascii_uppercase()));
        name.push_str(letters.as_str());
        name
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_outermost_names_change() {
        let value = json!({"session_id": "s", "cost_usd": 1.0, "id": "j1", "structured": {"my_key": 1}});
        let expected = json!({"sessionId": "s", "costUsd": 1.0, "id": "j1", "structured": {"my_key": 1}});
        assert_eq!(Value::Object(named(&value)), expected);
    }

    #[test]
    fn a_refusal_says_what_would_be_right_once() {
        let answer = Answer::from(JobError::choose("`kind` must be one of a, b", ["a", "b"]));
        assert_eq!(answer.text, "error [usage]: `kind` must be one of a, b\nnext: use one of: a, b");
        assert_eq!((answer.outcome, &answer.data["error"]["valid"]), (Outcome::Failed, &json!(["a", "b"])));
        let near = JobError {
            valid: vec!["task".into(), "kind".into()],
            ..JobError::usage("no `taks`", "did you mean `task`?")
        };
        assert!(Answer::from(near).text.ends_with("\nvalid: task, kind"));
    }
}
