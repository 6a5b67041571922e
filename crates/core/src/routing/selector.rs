//! How a request names the model that it wants.

use super::{RouteError, tag::TagRef};
use crate::{ModelRef, settings::Config};
use serde_json::{Value, json};

/// Before a name that is a model's, although a tier has it as well.
pub const MODEL: &str = "model:";

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    Exact(ModelRef),
    /// A name without its provider, as people remember it.
    Fuzzy(String),
    TaskType(String),
    Tier(String),
    Tag(TagRef),
    Profile(String),
    /// The request names nothing.
    Default,
}

impl Selector {
    /// Reads what follows `-m`: as [`Self::from_reference`], but a bare name is a model and never a tier.
    pub fn from_flag(text: &str, config: &Config) -> Result<Self, RouteError> {
        Self::from_reference(&Self::flag_reference(text, config), config)
    }

    /// What follows `-m`, as a reference that means the same wherever it is read later.
    #[must_use]
    pub fn flag_reference(text: &str, config: &Config) -> String {
        let text = text.trim();
        if config.tier_named(text).is_some() { format!("{MODEL}{text}") } else { text.to_owned() }
    }

    /// Reads a model in the configuration, in TODO.md or of an agent: `provider/model`, a tag, a tier, or a part of a
    /// name. `model:NAME`, `tier:NAME` and `tag:NAME` leave no doubt.
    pub fn from_reference(text: &str, config: &Config) -> Result<Self, RouteError> {
        let text = text.trim();
        if text.contains('/') {
            return text.parse().map(Self::Exact).map_err(|error: crate::values::model::ModelRefError| {
                RouteError::BadName { problem: error.to_string() }
            });
        }
        if let Some(name) = text.strip_prefix("tier:") {
            return Ok(Self::Tier(config.tier_named(name).unwrap_or(name).to_owned()));
        }
        if let Some(name) = text.strip_prefix("tag:") {
            let tag =
                TagRef::parse(name, config)?.map_or_else(|| TagRef::require(&format!("auto:{name}"), config), Ok)?;
            return Ok(Self::Tag(tag));
        }
        if let Some(name) = text.strip_prefix(MODEL) {
            return Ok(Self::Fuzzy(name.to_owned()));
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
