//! What a tool call results in.

use super::Refused;
use serde_json::{Value, json};

#[derive(Debug, Clone)]
pub(super) struct Done {
    pub title: String,
    pub output: String,
    pub metadata: Value,
}

pub(super) type Outcome = Result<Done, Refused>;

impl Done {
    pub fn new(title: String, output: String) -> Self {
        Self { title, output, metadata: json!({ "truncated": false }) }
    }
}

/// The complaint about arguments that lack something.
pub(super) fn missing_key(tool: &str, key: &str) -> Refused {
    Refused::Told(format!(
        "The {tool} tool was called with invalid arguments: SchemaError(Missing key\n  at [\"{key}\"]).\nPlease rewrite \
         the input so it satisfies the expected schema."
    ))
}
