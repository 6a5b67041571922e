//! The provider's JSON, read tolerantly: only what is used, and every field that may be absent is.

use serde::{Deserialize, de::IgnoredAny};
use serde_json::{Value, value::RawValue};
use std::borrow::Cow;

/// One piece of a streamed answer, or a whole answer from a provider that does not stream.
#[derive(Debug, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) model: Option<Word<'a>>,
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(default)]
    pub(super) index: Option<u64>,
    #[serde(borrow, default, alias = "message")]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<Word<'a>>,
    /// Some providers put an error where the answer should be.
    #[serde(default)]
    pub(super) error: Option<Value>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Delta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<Said<'a>>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<Said<'a>>,
    #[serde(borrow, default)]
    reasoning: Option<Said<'a>>,
    #[serde(borrow, default)]
    reasoning_content: Option<Said<'a>>,
    #[serde(default)]
    tool_calls: Option<Vec<IgnoredAny>>,
}

impl Delta<'_> {
    /// Whether the model did anything here besides answering.
    pub(super) fn is_at_work(&self) -> bool {
        let thinks = [&self.reasoning, &self.reasoning_content];
        thinks.into_iter().flatten().any(Said::is_something)
            || self.tool_calls.as_ref().is_some_and(|calls| !calls.is_empty())
    }
}

/// Text, whole or in parts; the parts of some models hold their thoughts too.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Said<'a> {
    Text(#[serde(borrow)] Cow<'a, str>),
    Parts(#[serde(borrow)] Vec<Part<'a>>),
    Other(IgnoredAny),
}

#[derive(Debug, Deserialize)]
pub(super) struct Part<'a> {
    #[serde(borrow, default)]
    text: Option<Word<'a>>,
}

/// A string that is borrowed where it can be, also as an option.
#[derive(Debug, Deserialize)]
pub(super) struct Word<'a>(#[serde(borrow)] pub(super) Cow<'a, str>);

impl Said<'_> {
    pub(super) fn texts(&self) -> impl Iterator<Item = &str> {
        let (one, parts) = match self {
            Self::Text(text) => (Some(text.as_ref()), &[][..]),
            Self::Parts(parts) => (None, parts.as_slice()),
            Self::Other(IgnoredAny) => (None, &[][..]),
        };
        let parts = parts.iter().filter_map(|part| part.text.as_ref().map(|text| text.0.as_ref()));
        one.into_iter().chain(parts).filter(|text| !text.is_empty())
    }

    pub(super) fn is_something(&self) -> bool {
        match self {
            Self::Text(text) => !text.is_empty(),
            Self::Parts(parts) => !parts.is_empty(),
            Self::Other(IgnoredAny) => false,
        }
    }
}

/// Read by itself: odd counts must not spoil an answer.
#[derive(Debug, Deserialize)]
pub(super) struct Counts<'a> {
    #[serde(default)]
    pub(super) prompt_tokens: Option<Count>,
    #[serde(default)]
    pub(super) completion_tokens: Option<Count>,
    #[serde(default)]
    pub(super) total_tokens: Option<Count>,
    #[serde(default)]
    pub(super) prompt_tokens_details: Option<PromptDetails>,
    #[serde(default)]
    pub(super) completion_tokens_details: Option<CompletionDetails>,
    /// Another name for the cached tokens.
    #[serde(default)]
    pub(super) prompt_cache_hit_tokens: Option<Count>,
    /// Kept as its own text, so that no amount is rounded on the way.
    #[serde(borrow, default)]
    pub(super) cost: Option<&'a RawValue>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct PromptDetails {
    #[serde(default)]
    pub(super) cached_tokens: Option<Count>,
    #[serde(default)]
    pub(super) cache_write_tokens: Option<Count>,
}

#[derive(Debug, Default, Deserialize)]
pub(super) struct CompletionDetails {
    #[serde(default)]
    pub(super) reasoning_tokens: Option<Count>,
}

/// A number of tokens; some write it with a fraction, and less than nothing is nothing.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged)]
pub(super) enum Count {
    Whole(u64),
    Fraction(f64),
    Other(IgnoredAny),
}

impl Count {
    pub(super) fn get(self) -> u64 {
        match self {
            Self::Whole(count) => count,
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a count that is negative or too large saturates"
            )]
            Self::Fraction(count) => count.round() as u64,
            Self::Other(IgnoredAny) => 0,
        }
    }
}
