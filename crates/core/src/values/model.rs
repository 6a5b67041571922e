//! The exact name of a model: `provider/model`, with an optional `@variant`.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ModelRef {
    pub provider: String,
    pub model: String,
    pub variant: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelRefError {
    #[error("`{0}` is half a model name: write provider/model, as in `anthropic/claude-sonnet-4-5`")]
    Half(String),
    #[error("`{0}` has an empty variant after `@`")]
    EmptyVariant(String),
    #[error("`{0}` contains spaces or control characters")]
    BadCharacter(String),
}

impl ModelRef {
    #[must_use]
    pub fn new(provider: impl Into<String>, model: impl Into<String>) -> Self {
        Self { provider: provider.into(), model: model.into(), variant: None }
    }

    /// `provider/model` without the variant: how OpenCode lists it.
    #[must_use]
    pub fn base(&self) -> String {
        format!("{}/{}", self.provider, self.model)
    }
}

impl FromStr for ModelRef {
    type Err = ModelRefError;

    /// The provider ends at the first slash, since model ids of gateways contain slashes; the
    /// variant starts at the last `@`, since some model ids contain that too (`…@20250514`), but
    /// only when what follows could be a variant's name.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.chars().any(|c| c.is_whitespace() || c.is_control()) {
            return Err(ModelRefError::BadCharacter(text.to_owned()));
        }
        let Some((provider, rest)) = text.split_once('/') else {
            return Err(ModelRefError::Half(text.to_owned()));
        };
        let (model, variant) = match rest.rsplit_once('@') {
            Some((_, "")) => return Err(ModelRefError::EmptyVariant(text.to_owned())),
            Some((model, variant)) if !variant.starts_with(|c: char| c.is_ascii_digit()) && !variant.contains('/') => {
                (model, Some(variant.to_owned()))
            }
            _ => (rest, None),
        };
        if provider.is_empty() || model.is_empty() {
            return Err(ModelRefError::Half(text.to_owned()));
        }
        Ok(Self { provider: provider.to_owned(), model: model.to_owned(), variant })
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)?;
        self.variant.iter().try_for_each(|variant| write!(f, "@{variant}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_apart() {
        let table = [
            ("openai/gpt-5", Some(("openai", "gpt-5", None))),
            ("openai/gpt-5@low", Some(("openai", "gpt-5", Some("low")))),
            ("openrouter/meta/llama-4", Some(("openrouter", "meta/llama-4", None))),
            ("openrouter/meta/llama-4@high", Some(("openrouter", "meta/llama-4", Some("high")))),
            ("vertex/claude@20250514", Some(("vertex", "claude@20250514", None))),
            ("gpt-5", None),
            ("/gpt-5", None),
            ("openai/", None),
            ("openai/gpt-5@", None),
            ("open ai/gpt", None),
            ("", None),
        ];
        for (text, expected) in table {
            let expected = expected.map(|(provider, model, variant)| ModelRef {
                provider: provider.into(),
                model: model.into(),
                variant: variant.map(Into::into),
            });
            assert_eq!(text.parse::<ModelRef>().ok(), expected, "{text}");
        }
    }

    #[test]
    fn display_round_trips() {
        for text in ["a/b", "a/b/c@high", "v/claude@20250514"] {
            assert_eq!(text.parse::<ModelRef>().map(|m| m.to_string()), Ok(text.to_owned()));
        }
    }
}
