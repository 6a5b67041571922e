//! The models that a server offers, as far as a decision needs to know them. No keys.

use super::RouteError;
use crate::{ModelRef, money::Price, nearest::nearest};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Catalogue {
    pub providers: BTreeMap<String, Provider>,
    /// OpenCode's own `model` setting.
    pub default_model: Option<ModelRef>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Provider {
    /// Where OpenCode has it from: `config`, `custom`, `env`, `api`.
    pub source: String,
    /// Whether OpenCode holds a key or login for it. Local providers may need none.
    pub has_key: bool,
    pub models: BTreeMap<String, Model>,
}

#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Model {
    pub id: String,
    pub image_input: bool,
    pub tool_calls: bool,
    pub context: u64,
    pub output: u64,
    pub price: Price,
    pub variants: Vec<String>,
}

impl Provider {
    /// A provider that OpenCode merely knows of by its API, without a key, is never chosen by itself.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.has_key || self.source != "api"
    }
}

impl Catalogue {
    /// The model by its exact name, or why it cannot be used.
    pub fn find(&self, wanted: &ModelRef) -> Result<&Model, RouteError> {
        let Some(provider) = self.providers.get(&wanted.provider) else {
            let connected: Vec<&str> = self.providers.keys().map(String::as_str).collect();
            let connected = if connected.is_empty() { "none".to_owned() } else { connected.join(", ") };
            return Err(RouteError::ProviderNotConnected { provider: wanted.provider.clone(), connected });
        };
        let Some(model) = provider.models.get(&wanted.model) else {
            let near = nearest(&wanted.model, provider.models.keys().map(String::as_str), 5);
            let near = if near.is_empty() {
                let all: Vec<&str> = provider.models.keys().map(String::as_str).take(20).collect();
                format!("; it has: {}", all.join(", "))
            } else {
                format!("; did you mean {}?", near.join(", "))
            };
            return Err(RouteError::ModelNotFound {
                provider: wanted.provider.clone(),
                model: wanted.model.clone(),
                suggestion: near,
            });
        };
        // OpenCode ignores an unknown variant without a word, so the check is ours.
        match &wanted.variant {
            Some(variant) if !model.variants.contains(variant) => Err(RouteError::VariantNotFound {
                model: wanted.base(),
                variant: variant.clone(),
                valid: if model.variants.is_empty() { "none".to_owned() } else { model.variants.join(", ") },
            }),
            _ => Ok(model),
        }
    }

    #[must_use]
    pub fn is_usable(&self, provider: &str) -> bool {
        self.providers.get(provider).is_some_and(Provider::is_usable)
    }

    #[must_use]
    pub fn has_key(&self, provider: &str) -> bool {
        self.providers.get(provider).is_some_and(|provider| provider.has_key)
    }

    /// Every model with its provider's id, in order of their names.
    pub fn models(&self) -> impl Iterator<Item = (&str, &Model)> {
        self.providers.iter().flat_map(|(id, provider)| provider.models.values().map(move |model| (id.as_str(), model)))
    }
}
