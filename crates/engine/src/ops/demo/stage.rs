//! The stages: what is asked, and what the scripted models do about it.

use super::{
    DemoError, Scratch,
    models::{CAREFUL, RATIONED, SWIFT, model},
};
use serde::Serialize;
use serde_json::{Value, json};
use shuntyard_core::{
    ModelRef,
    routing::request::{Request, Selector},
    values::{Mode, duration::Limit, schema::AnswerSchema},
};
use shuntyard_scripted::Step;
use std::{io, time::Duration};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    Routed,
    Structured,
    Quota,
}

impl Stage {
    pub const ALL: [Self; 3] = [Self::Routed, Self::Structured, Self::Quota];

    /// What this stage shows, for the reader.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Routed => "A question, routed by its task type",
            Self::Structured => "An answer that has to fit a schema",
            Self::Quota => "A provider whose allowance is used up",
        }
    }

    #[must_use]
    pub fn prompt(self) -> &'static str {
        match self {
            Self::Routed => "Review: for i in 0..=items.len() { sum += items[i]; }",
            Self::Structured => "Is \"fix stuff\" a good commit message? Give a verdict, and a score from 1 to 5.",
            Self::Quota => "Summarise the release notes in one sentence.",
        }
    }

    pub(super) fn model(self) -> ModelRef {
        model(match self {
            Self::Routed => CAREFUL,
            Self::Structured => SWIFT,
            Self::Quota => RATIONED,
        })
    }

    pub(super) fn timeout(self) -> Limit {
        Limit(Some(Duration::from_secs(45)))
    }

    pub(super) fn request(self, scratch: &Scratch) -> Result<Request, DemoError> {
        let selector = match self {
            Self::Routed => Selector::TaskType("code-review".into()),
            Self::Structured => Selector::TaskType("quick-check".into()),
            Self::Quota => Selector::Exact(self.model()),
        };
        let schema = match self {
            Self::Structured => Some(
                AnswerSchema::parse(&schema().to_string())
                    .map_err(|error| DemoError::Scratch(io::Error::other(error)))?,
            ),
            Self::Routed | Self::Quota => None,
        };
        Ok(Request {
            prompt: self.prompt().to_owned(),
            selector,
            mode: Mode::Text,
            directory: scratch.repository(),
            system: None,
            schema,
            images: Vec::new(),
            session: None,
            keep: false,
            agent: None,
            capabilities: Vec::new(),
            access: shuntyard_core::values::Access::Write,
        })
    }

    /// The model's side of the conversation.
    pub(super) fn steps(self) -> Vec<Step> {
        match self {
            Self::Routed => vec![Step::chunks([
                "The range `0..=items.len()` ends one past the last item, ",
                "so the loop panics. Write `0..items.len()`, or `items.iter().sum()`.",
            ])],
            // The first score is a word, which OpenCode lets through and our check does not.
            Self::Structured => {
                vec![Step::structured(json!({"verdict": "reject", "score": "two"})), Step::structured(verdict())]
            }
            Self::Quota => {
                let message = "Too many requests: the allowance of this key is used up for today";
                vec![Step::status(429).retry_after(3600).message(message)]
            }
        }
    }
}

/// The answer that fits.
pub(super) fn verdict() -> Value {
    json!({"verdict": "reject", "score": 2})
}

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "verdict": {"enum": ["approve", "reject"]},
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
        },
        "required": ["verdict", "score"],
        "additionalProperties": false,
    })
}
