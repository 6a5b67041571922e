//! OpenCode's provider list, reduced to what a decision needs. Keys are seen and dropped here.

use serde::{Deserialize, Deserializer};
use serde_json::Value;
use std::collections::BTreeMap;
use switchyard_core::{
    Nano,
    money::Price,
    route::{Catalogue, Model, Provider},
};

/// `GET /config/providers`: the providers that this server would really use.
#[derive(Debug, Deserialize)]
pub(super) struct ProviderList {
    providers: Vec<ListedProvider>,
}

/// `GET /config`: only the setting that we need; the rest may hold keys.
#[derive(Debug, Default, Deserialize)]
pub(super) struct ConfiguredModel {
    model: Option<String>,
}

#[derive(Debug, Deserialize)]
struct ListedProvider {
    id: String,
    #[serde(default)]
    source: String,
    #[serde(default, deserialize_with = "is_present")]
    key: bool,
    #[serde(default)]
    options: Options,
    #[serde(default)]
    models: BTreeMap<String, ListedModel>,
}

#[derive(Debug, Default, Deserialize)]
struct Options {
    #[serde(default, rename = "apiKey", deserialize_with = "is_present")]
    api_key: bool,
}

#[derive(Debug, Deserialize)]
struct ListedModel {
    #[serde(default)]
    capabilities: Capabilities,
    #[serde(default)]
    cost: Cost,
    #[serde(default)]
    limit: Limits,
    #[serde(default)]
    variants: BTreeMap<String, Value>,
}

#[derive(Debug, Default, Deserialize)]
struct Capabilities {
    #[serde(default)]
    toolcall: bool,
    #[serde(default)]
    input: Inputs,
}

#[derive(Debug, Default, Deserialize)]
struct Inputs {
    #[serde(default)]
    image: bool,
}

#[derive(Debug, Default, Deserialize)]
struct Cost {
    #[serde(default)]
    input: f64,
    #[serde(default)]
    output: f64,
    #[serde(default)]
    cache: CacheCost,
}

#[derive(Debug, Default, Deserialize)]
struct CacheCost {
    #[serde(default)]
    read: f64,
    #[serde(default)]
    write: f64,
}

#[derive(Debug, Default, Deserialize)]
struct Limits {
    #[serde(default)]
    context: f64,
    #[serde(default)]
    output: f64,
}

pub(super) fn catalogue(list: ProviderList, configured: &ConfiguredModel) -> Catalogue {
    let providers = list.providers.into_iter().map(|provider| {
        let has_key = provider.key || provider.options.api_key || provider.source == "env";
        let models = provider.models.into_iter().map(|(id, model)| (id.clone(), model.reduced(id))).collect();
        (provider.id, Provider { source: provider.source, has_key, models })
    });
    let default_model = configured.model.as_deref().and_then(|name| name.parse().ok());
    Catalogue { providers: providers.collect(), default_model }
}

impl ListedModel {
    fn reduced(self, id: String) -> Model {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "token limits are small and whole")]
        let whole = |limit: f64| limit as u64;
        let nano = |usd: f64| Nano::from_usd(usd).unwrap_or_default();
        Model {
            id,
            image_input: self.capabilities.input.image,
            tool_calls: self.capabilities.toolcall,
            context: whole(self.limit.context),
            output: whole(self.limit.output),
            price: Price {
                input: nano(self.cost.input),
                output: nano(self.cost.output),
                cache_read: nano(self.cost.cache.read),
                cache_write: nano(self.cost.cache.write),
            },
            variants: self.variants.into_keys().collect(),
        }
    }
}

/// Notes that a secret is there without keeping it.
fn is_present<'de, D: Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(match Value::deserialize(deserializer)? {
        Value::Null => false,
        Value::String(text) => !text.is_empty(),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn keys_are_noted_and_never_kept() {
        let list: ProviderList = serde_json::from_value(json!({"providers": [
            {"id": "a", "source": "config", "options": {"apiKey": "sk-secret-1"}, "models": {
                "m": {"capabilities": {"toolcall": true, "input": {"image": true}}, "cost": {"input": 3, "output": 15},
                      "limit": {"context": 128000, "output": 8192}, "variants": {"low": {}, "high": {}}}}},
            {"id": "b", "source": "api", "key": "sk-secret-2", "models": {}},
            {"id": "c", "source": "api", "models": {}}, {"id": "d", "source": "env"}]}))
        .unwrap();
        let found = catalogue(list, &ConfiguredModel { model: Some("a/m".into()) });
        let keys: Vec<_> = found.providers.iter().map(|(id, p)| (id.as_str(), p.has_key, p.is_usable())).collect();
        assert_eq!(keys, [("a", true, true), ("b", true, true), ("c", false, false), ("d", true, true)]);
        let model = &found.providers["a"].models["m"];
        assert_eq!(model.price.input, Nano(3_000_000_000));
        assert_eq!(model.variants, ["high", "low"]);
        assert!(!format!("{found:?}").contains("secret"));
    }
}
