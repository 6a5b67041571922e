//! The settings of OpenCode's configuration for providers and models, without its keys.

use super::{
    super::lenient::{Secret, lenient},
    Places,
    described::Described,
    layers,
    substitute::Mark,
};
use serde::Deserialize;
use serde_json::{Map, Value};
use shuntyard_core::ModelRef;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(super) struct Settings {
    pub(super) model: Option<ModelRef>,
    pub(super) small_model: Option<ModelRef>,
    pub(super) providers: BTreeMap<String, ProviderSettings>,
    enabled: Option<BTreeSet<String>>,
    disabled: BTreeSet<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct ProviderSettings {
    #[serde(deserialize_with = "lenient")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) env: Option<Vec<String>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) npm: Option<String>,
    /// The address of its API, where the options name none.
    #[serde(deserialize_with = "lenient")]
    pub(super) api: Option<String>,
    #[serde(deserialize_with = "lenient")]
    whitelist: Option<BTreeSet<String>>,
    #[serde(deserialize_with = "lenient")]
    blacklist: BTreeSet<String>,
    #[serde(deserialize_with = "lenient")]
    options: Options,
    #[serde(deserialize_with = "lenient")]
    pub(super) models: BTreeMap<String, Described>,
}

#[derive(Default, Deserialize)]
struct Options {
    #[serde(default, rename = "apiKey")]
    api_key: Secret,
}

pub(super) fn read(places: &Places, problems: &mut Vec<String>) -> Settings {
    of(layers::merged(places, Mark::Present, problems), problems)
}

/// The settings of a merged configuration.
pub(super) fn of(mut config: Map<String, Value>, problems: &mut Vec<String>) -> Settings {
    let mut take = |key: &str| config.remove(key).unwrap_or_default();
    let model = |value: Value| value.as_str().and_then(|name| name.parse().ok());
    let names = |value: Value| serde_json::from_value::<BTreeSet<String>>(value).ok();
    let mut providers = BTreeMap::new();
    if let Value::Object(described) = take("provider") {
        for (id, value) in described {
            match serde_json::from_value(value) {
                Ok(settings) => {
                    providers.insert(id, settings);
                }
                Err(_) => problems.push(format!("the configuration of the provider `{id}` is not an object")),
            }
        }
    }
    Settings {
        model: model(take("model")),
        small_model: model(take("small_model")),
        providers,
        enabled: names(take("enabled_providers")),
        disabled: names(take("disabled_providers")).unwrap_or_default(),
    }
}

impl Settings {
    pub(super) fn allows(&self, provider: &str) -> bool {
        !self.disabled.contains(provider) && self.enabled.as_ref().is_none_or(|enabled| enabled.contains(provider))
    }
}

impl ProviderSettings {
    pub(super) fn api_key(&self) -> Secret {
        self.options.api_key
    }

    pub(super) fn offers(&self, model: &str) -> bool {
        !self.blacklist.contains(model) && self.whitelist.as_ref().is_none_or(|listed| listed.contains(model))
    }
}
