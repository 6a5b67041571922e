//! How a request says which model it wants.

use super::{RouteError, tag::TagRef};
use crate::{ModelRef, config::Config};
use serde_json::{Value, json};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    Exact(ModelRef),
    /// A name without its provider, as people remember it.
    Fuzzy(String),
    TaskType(String),
    Tier(String),
    Tag(TagRef),
    Profile(String),
    /// Nothing was said.
    Default,
}

impl Selector {
    /// Reads what a person writes for a model: `provider/model`, a tag, a tier, or a part of a name.
    pub fn from_reference(text: &str, config: &Config) -> Result<Self, RouteError> {
        let text = text.trim();
        if text.contains('/') {
            return text
                .parse()
                .map(Self::Exact)
                .map_err(|error: crate::model::ModelRefError| RouteError::BadName { problem: error.to_string() });
        }
        if let Some(tag) = TagRef::parse(text, config)? {
            return Ok(Self::Tag(tag));
        }
        if let Some(tier) = config.tier_named(text) {
            return Ok(Self::Tier(tier.to_owned()));
        }
        if text.chars().all(|c| !c.is_alphanumeric()) || text.chars().any(char::is_control) {
            return Err(RouteError::BadName { problem: format!("`{text}` is no name of a model") });
        }
        Ok(Self::Fuzzy(text.to_owned()))
    }

    /// As it appears under `requested` in JSON.
    #[must_use]
    pub fn to_json(&self) -> Value {
        match self {
            Self::Exact(model) => json!({ "model": model.to_string() }),
            Self::Fuzzy(name) => json!({ "model": name }),
            Self::TaskType(name) => json!({ "task_type": name }),
            Self::Tier(name) => json!({ "tier": name }),
            Self::Tag(tag) => json!({ "tag": tag.to_string() }),
            Self::Profile(name) => json!({ "profile": name }),
            Self::Default => json!({}),
        }
    }

    /// Whether it names one model, which is then never exchanged for another without being asked.
    #[must_use]
    pub fn is_explicit(&self) -> bool {
        matches!(self, Self::Exact(_) | Self::Fuzzy(_))
    }
}
