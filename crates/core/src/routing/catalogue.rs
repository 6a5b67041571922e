//! The models that a user has, as far as a decision needs to know them. No keys.

use super::{Model, Models, RouteError};
use crate::{ModelRef, values::nearest::nearest};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Catalogue {
    pub providers: BTreeMap<String, Provider>,
    /// OpenCode's own `model` setting.
    pub default_model: Option<ModelRef>,
    /// OpenCode's own `small_model` setting.
    pub small_model: Option<ModelRef>,
}

word_enum! {
    /// Where OpenCode has a provider from.
    #[derive(Default)]
    pub enum Source {
        /// The user's OpenCode configuration describes it.
        Config = "config",
        /// OpenCode itself or a plugin set it up, as with a login by browser.
        Custom = "custom",
        /// A variable of the environment holds its key.
        Env = "env",
        /// The public catalogue describes it; only a stored key makes it usable.
        #[default]
        Api = "api",
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Provider {
    pub source: Source,
    /// Whether OpenCode holds a key or login for it. Local providers may need none.
    pub has_key: bool,
    /// Whether OpenCode would take a prompt for it. The others are only known of.
    pub connected: bool,
    pub name: String,
    /// The variables that may hold its key.
    pub env: Vec<String>,
    pub models: Models,
}

impl Provider {
    /// Whether it may be chosen by itself. One that OpenCode merely knows of by its API, without a key, never is.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.connected && (self.has_key || self.source != Source::Api)
    }

    /// Why it is not usable, or how it is.
    #[must_use]
    pub fn standing(&self) -> &'static str {
        match (self.connected, self.source, self.has_key) {
            (false, ..) => "not connected",
            (true, Source::Api, false) => "no key",
            (true, Source::Api, true) => "stored login",
            (true, Source::Env, _) => "key from the environment",
            (true, Source::Custom, _) => "set up by OpenCode",
            (true, Source::Config, true) => "configured, with a key",
            (true, Source::Config, false) => "configured, without a key",
        }
    }
}

impl Catalogue {
    /// The model by its exact name, or why it cannot be used.
    pub fn find(&self, wanted: &ModelRef) -> Result<&Model, RouteError> {
        let connected = self.providers.iter().filter(|(_, provider)| provider.connected);
        let Some(provider) = self.providers.get(&wanted.provider).filter(|provider| provider.connected) else {
            let names: Vec<&str> = connected.map(|(id, _)| id.as_str()).collect();
            let connected = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
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

    /// Every model with its provider, in order of their names.
    pub fn models(&self) -> impl Iterator<Item = (&str, &Provider, &Model)> {
        self.providers
            .iter()
            .flat_map(|(id, provider)| provider.models.values().map(move |model| (id.as_str(), provider, model)))
    }

    /// The same without what is only known of: all that a decision needs.
    #[must_use]
    pub fn connected(&self) -> Self {
        let providers = self.providers.iter().filter(|(_, provider)| provider.connected);
        Self {
            providers: providers.map(|(id, provider)| (id.clone(), provider.clone())).collect(),
            default_model: self.default_model.clone(),
            small_model: self.small_model.clone(),
        }
    }
}
