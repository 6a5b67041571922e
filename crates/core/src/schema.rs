//! JSON schemas of structured answers: checked before anything is sent, and the answer against it.

use jsonschema::Validator;
use serde_json::Value;
use std::{fmt, sync::Arc};

/// A schema that compiles and describes an object.
#[derive(Clone)]
pub struct AnswerSchema {
    source: Value,
    validator: Arc<Validator>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    #[error("the schema is not JSON: {0}")]
    NotJson(String),
    #[error("the schema is not a valid JSON Schema: {0}")]
    Invalid(String),
    #[error("the schema must describe an object (`\"type\": \"object\"`), since models answer with one")]
    NotAnObject,
}

impl AnswerSchema {
    pub fn parse(text: &str) -> Result<Self, SchemaError> {
        let source: Value = serde_json::from_str(text).map_err(|error| SchemaError::NotJson(error.to_string()))?;
        if source.get("type").and_then(Value::as_str) != Some("object") {
            return Err(SchemaError::NotAnObject);
        }
        let validator = jsonschema::validator_for(&source).map_err(|error| SchemaError::Invalid(error.to_string()))?;
        Ok(Self { source, validator: Arc::new(validator) })
    }

    #[must_use]
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// What is wrong with an answer, one line a fault; empty when it fits.
    #[must_use]
    pub fn faults(&self, answer: &Value) -> Vec<String> {
        self.validator
            .iter_errors(answer)
            .take(10)
            .map(|error| {
                let place = error.instance_path().to_string();
                let place = if place.is_empty() { "/" } else { place.as_str() };
                format!("at {place}: {error}")
            })
            .collect()
    }
}

impl fmt::Debug for AnswerSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AnswerSchema").field(&self.source).finish()
    }
}

impl PartialEq for AnswerSchema {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn bad_schemas_are_refused_with_the_reason() {
        assert!(matches!(AnswerSchema::parse("{"), Err(SchemaError::NotJson(_))));
        assert_eq!(AnswerSchema::parse("[]"), Err(SchemaError::NotAnObject));
        assert_eq!(AnswerSchema::parse(r#"{"type":"array"}"#), Err(SchemaError::NotAnObject));
        let wrong = r#"{"type":"object","properties":{"a":{"type":"nonsense"}}}"#;
        assert!(matches!(AnswerSchema::parse(wrong), Err(SchemaError::Invalid(_))));
    }

    #[test]
    fn an_answer_is_checked_for_real() -> Result<(), SchemaError> {
        let schema = r#"{"type":"object","properties":{"score":{"type":"number"}},"required":["score"]}"#;
        let schema = AnswerSchema::parse(schema)?;
        assert!(schema.faults(&json!({"score": 4})).is_empty());
        assert_eq!(schema.faults(&json!({"score": "four"})), ["at /score: \"four\" is not of type \"number\""]);
        assert_eq!(schema.faults(&json!({})), ["at /: \"score\" is a required property"]);
        Ok(())
    }
}
