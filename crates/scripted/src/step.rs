//! One scripted answer as plain data, so that it can come from code or from a JSON file.
//!
//! Durations are whole milliseconds and every field has a default: `{}` is an answer without content.

use crate::Gate;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;
use shuntyard_core::Usage;

/// What the provider does with one request.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Step {
    /// Sent before the text, as `reasoning_content`.
    pub reasoning: Option<String>,
    /// The text in the pieces in which it is streamed; a single string in JSON is one piece.
    #[serde(deserialize_with = "one_or_many")]
    pub text: Vec<String>,
    pub tools: Vec<ToolCall>,
    /// A value to return through the `StructuredOutput` tool, or as text when it is not offered.
    pub structured: Option<Value>,
    pub usage: UsageReport,
    pub finish: Finish,
    /// Before the response headers.
    pub delay_ms: u64,
    /// Opened before the response headers. Only in code.
    #[serde(skip)]
    pub gate: Option<Gate>,
    /// Before every piece of content but the first.
    pub chunk_delay_ms: u64,
    pub fault: Option<Fault>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolCall {
    pub name: String,
    pub arguments: Value,
}

/// Which token counts the answer carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UsageReport {
    /// Counted from the lengths of the texts: four characters a token.
    #[default]
    Derived,
    /// Spent as in `Derived`, and not reported to the client.
    None,
    #[serde(untagged)]
    Exact(Tokens),
}

/// Token counts in the provider's meaning: the prompt includes the cached tokens, the completion
/// includes the reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Tokens {
    pub prompt_tokens: u64,
    pub completion_tokens: u64,
    pub cached_tokens: u64,
    pub reasoning_tokens: u64,
}

impl Tokens {
    #[must_use]
    pub fn new(prompt_tokens: u64, completion_tokens: u64) -> Self {
        Self { prompt_tokens, completion_tokens, ..Self::default() }
    }

    #[must_use]
    pub fn cached(self, cached_tokens: u64) -> Self {
        Self { cached_tokens, ..self }
    }

    #[must_use]
    pub fn reasoning(self, reasoning_tokens: u64) -> Self {
        Self { reasoning_tokens, ..self }
    }

    /// The same counts as OpenCode books them.
    #[must_use]
    pub fn as_usage(&self) -> Usage {
        Usage {
            input: self.prompt_tokens.saturating_sub(self.cached_tokens),
            output: self.completion_tokens.saturating_sub(self.reasoning_tokens),
            reasoning: self.reasoning_tokens,
            cache_read: self.cached_tokens,
            cache_write: 0,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Finish {
    /// `tool_calls` when there are any, otherwise `stop`.
    #[default]
    Natural,
    /// No finish reason is ever sent.
    None,
    #[serde(untagged)]
    Reason(String),
}

/// The scripted fault. A piece of content counts as one chunk; with fewer chunks than asked for, the fault comes after
/// the last of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    HangBeforeHeaders,
    HangBeforeFirstByte,
    HangMidStream {
        after_chunks: usize,
    },
    DropConnection {
        after_chunks: usize,
    },
    /// Something that is not JSON in the middle of the answer.
    Malformed,
    /// The answer ends politely, but without finish reason, usage and end marker.
    Truncated,
    /// A finished answer without content.
    Empty,
    Status {
        code: u16,
        #[serde(default)]
        retry_after: Option<RetryAfter>,
        #[serde(default)]
        message: Option<String>,
        /// Sent as it is in place of the usual error object.
        #[serde(default)]
        body: Option<String>,
    },
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum RetryAfter {
    Seconds(u64),
    /// An HTTP date, sent as it is.
    Date(String),
}

fn one_or_many<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Text {
        One(String),
        Many(Vec<String>),
    }
    Ok(match Text::deserialize(deserializer)? {
        Text::One(text) => vec![text],
        Text::Many(pieces) => pieces,
    })
}
