//! JSON schemas of structured answers: checked before anything is sent, and the answer against it.

use boon::{CompileError, Compiler, SchemaIndex, Schemas, UrlLoader, ValidationError};
use serde_json::Value;
use std::{error::Error, fmt, sync::Arc};

/// The name of the schema for the compiler; relative references inside it are resolved against it.
const LOCATION: &str = "schema:///answer.json";
/// Faults that are reported at most.
const MOST_FAULTS: usize = 10;

/// A schema that compiles and describes an object.
#[derive(Clone)]
pub struct AnswerSchema {
    source: Value,
    compiled: Arc<(Schemas, SchemaIndex)>,
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
        let compiled = compile(&source).map_err(SchemaError::Invalid)?;
        Ok(Self { source, compiled: Arc::new(compiled) })
    }

    #[must_use]
    pub fn source(&self) -> &Value {
        &self.source
    }

    /// What is wrong with an answer, one line a fault; empty when it fits.
    #[must_use]
    pub fn faults(&self, answer: &Value) -> Vec<String> {
        let (schemas, index) = &*self.compiled;
        let mut faults = Vec::new();
        if let Err(error) = schemas.validate(answer, *index) {
            collect(&error, &mut faults);
        }
        faults.truncate(MOST_FAULTS);
        faults
    }
}

fn compile(source: &Value) -> Result<(Schemas, SchemaIndex), String> {
    let mut schemas = Schemas::new();
    let mut compiler = Compiler::new();
    compiler.use_loader(Box::new(NothingElse));
    let reason = |error: CompileError| format!("{error:#}").replace(LOCATION, "");
    compiler.add_resource(LOCATION, source.clone()).map_err(reason)?;
    let index = compiler.compile(LOCATION, &mut schemas).map_err(reason)?;
    Ok((schemas, index))
}

/// A schema that refers to a file or an address is refused: it may come from a stranger.
struct NothingElse;

impl UrlLoader for NothingElse {
    fn load(&self, url: &str) -> Result<Value, Box<dyn Error>> {
        Err(format!("{url} is outside of the schema").into())
    }
}

/// The faults themselves, without the keywords that only group them.
fn collect(error: &ValidationError<'_, '_>, faults: &mut Vec<String>) {
    if error.causes.is_empty() {
        let place = error.instance_location.to_string();
        faults.push(format!("at {}: {}", if place.is_empty() { "/" } else { place.as_str() }, error.kind));
    }
    for cause in &error.causes {
        collect(cause, faults);
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
        assert_eq!(schema.faults(&json!({"score": "four"})), ["at /score: want number, but got string"]);
        assert_eq!(schema.faults(&json!({})), ["at /: missing properties 'score'"]);
        Ok(())
    }

    #[test]
    fn every_fault_is_listed_with_its_place() -> Result<(), SchemaError> {
        let schema = r##"{"type":"object","$defs":{"word":{"type":"string","pattern":"^[a-z]+$"}},"required":["a","b"],
            "properties":{"a":{"$ref":"#/$defs/word"},"b":{"anyOf":[{"type":"null"},{"enum":["x","y"]}]},
            "c":{"type":"array","items":{"type":"integer","minimum":1}}},"additionalProperties":false}"##;
        let schema = AnswerSchema::parse(schema)?;
        assert!(schema.faults(&json!({"a": "word", "b": null, "c": [1, 2]})).is_empty());
        let mut faults = schema.faults(&json!({"a": "A1", "b": "z", "c": [0, "1"], "d": true}));
        faults.sort();
        let expected = [
            "at /: additionalProperties 'd' not allowed",
            "at /a: 'A1' does not match pattern '^[a-z]+$'",
            "at /b: value must be one of 'x', 'y'",
            "at /b: want null, but got string",
            "at /c/0: must be >=1, but got 0",
            "at /c/1: want integer, but got string",
        ];
        assert_eq!(faults, expected);
        Ok(())
    }

    #[test]
    fn nothing_outside_of_the_schema_is_read() {
        for reference in ["file:///etc/hostname", "http://127.0.0.1:9/schema.json", "other.json"] {
            let schema = json!({"type": "object", "properties": {"a": {"$ref": reference}}});
            let Err(SchemaError::Invalid(reason)) = AnswerSchema::parse(&schema.to_string()) else {
                panic!("{reference} was accepted");
            };
            assert!(reason.contains("outside of the schema"), "{reason}");
        }
    }
}
