//! What is left out or asked for in other words when a provider does not know a part of the request. Pure.

use super::{ask::Ask, complaint::Complaint};
use serde::{Deserialize, Serialize};
use shuntyard_core::ErrorClass;

/// How a structured answer is asked for, from the best way to the one that every provider knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StructureForm {
    /// The provider itself enforces the schema.
    Schema,
    /// The provider enforces an object; the schema is in the words of the prompt.
    Object,
    Words,
}

/// Newer models refuse the older name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum OutputLimit {
    MaxTokens,
    MaxCompletionTokens,
}

/// How a request is put. Each step leads on, so a provider that refuses everything is soon given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Manner {
    pub(super) form: Option<StructureForm>,
    pub(super) output_limit: Option<OutputLimit>,
}

impl Manner {
    pub(super) fn first(ask: &Ask<'_>) -> Self {
        Self {
            form: ask.schema.map(|_| StructureForm::Schema),
            output_limit: ask.max_output_tokens.map(|_| OutputLimit::MaxTokens),
        }
    }

    /// Another manner, when this one is what the provider complains about.
    pub(super) fn after(self, complaint: &Complaint) -> Option<Self> {
        let is_about_the_request = matches!(complaint.status, Some(400 | 422));
        if !is_about_the_request || complaint.class() == ErrorClass::ContextOverflow {
            return None;
        }
        let speaks_of = |words: &[&str]| words.iter().any(|word| complaint.words.contains(word));
        if self.output_limit == Some(OutputLimit::MaxTokens) && speaks_of(&["max_completion_tokens"]) {
            return Some(Self { output_limit: Some(OutputLimit::MaxCompletionTokens), ..self });
        }
        if !speaks_of(&[
            "response_format",
            "response format",
            "json_schema",
            "json_object",
            "structured output",
            "json mode",
        ]) {
            return None;
        }
        let form = match self.form? {
            StructureForm::Schema => StructureForm::Object,
            StructureForm::Object => StructureForm::Words,
            StructureForm::Words => return None,
        };
        Some(Self { form: Some(form), ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_complaint_about_the_manner_changes_it() {
        let first = Manner { form: Some(StructureForm::Schema), output_limit: Some(OutputLimit::MaxTokens) };
        let after = |status: u16, body: &str| first.after(&Complaint::in_refusal(status, body.as_bytes()));
        let object = Some(Manner { form: Some(StructureForm::Object), ..first });
        let newer = Some(Manner { output_limit: Some(OutputLimit::MaxCompletionTokens), ..first });
        let table = [
            (400, "Invalid parameter: 'response_format'", object),
            (422, "This model does not support structured outputs", object),
            (400, r#"{"error":{"message":"unsupported","param":"response_format"}}"#, object),
            (400, "'max_tokens' is not supported, use 'max_completion_tokens'", newer),
            (400, "bad request", None),
            (400, "response_format and the prompt exceed the maximum context length", None),
            (500, "response_format", None),
            (401, "response_format", None),
        ];
        for (status, body, expected) in table {
            assert_eq!(after(status, body), expected, "{status} {body}");
        }
    }

    #[test]
    fn the_last_manner_is_the_last() {
        let complaint = Complaint::in_refusal(400, b"no response_format, no max_completion_tokens");
        let mut manner = Manner { form: Some(StructureForm::Schema), output_limit: Some(OutputLimit::MaxTokens) };
        let mut steps = 0;
        while let Some(next) = manner.after(&complaint) {
            manner = next;
            steps += 1;
        }
        assert_eq!((steps, manner.form), (3, Some(StructureForm::Words)));
        assert_eq!(Manner { form: None, output_limit: None }.after(&complaint), None);
    }
}
