//! A provider and its models as a running server lists them. Every field may be missing: a server of
//! another version must not cost us the whole list.

use super::lenient::{Secret, is_key_of, lenient};
use serde::{Deserialize, de::IgnoredAny};
use shuntyard_core::{
    Nano,
    routing::{Model, Provider, Source, Status},
    values::money::Price,
};
use std::collections::BTreeMap;

#[derive(Debug, Deserialize)]
pub(super) struct ListedProvider {
    pub(super) id: String,
    #[serde(default, deserialize_with = "lenient")]
    name: String,
    #[serde(default, deserialize_with = "lenient")]
    source: String,
    #[serde(default, deserialize_with = "lenient")]
    env: Vec<String>,
    #[serde(default)]
    key: Secret,
    #[serde(default, deserialize_with = "lenient")]
    options: Options,
    #[serde(default)]
    models: Option<BTreeMap<String, ListedModel>>,
}

#[derive(Debug, Default, Deserialize)]
struct Options {
    #[serde(default, rename = "apiKey")]
    api_key: Secret,
}

#[derive(Debug, Deserialize)]
struct ListedModel {
    #[serde(default, deserialize_with = "lenient")]
    name: String,
    #[serde(default, deserialize_with = "lenient")]
    family: String,
    #[serde(default, deserialize_with = "lenient")]
    capabilities: Capabilities,
    #[serde(default, deserialize_with = "lenient")]
    structured_output: bool,
    #[serde(default, deserialize_with = "lenient")]
    cost: Cost,
    #[serde(default, deserialize_with = "lenient")]
    limit: Limits,
    #[serde(default, deserialize_with = "lenient")]
    variants: BTreeMap<String, IgnoredAny>,
    #[serde(default, deserialize_with = "lenient")]
    status: String,
    #[serde(default, deserialize_with = "lenient")]
    release_date: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Capabilities {
    #[serde(deserialize_with = "lenient")]
    toolcall: bool,
    #[serde(deserialize_with = "lenient")]
    reasoning: bool,
    #[serde(deserialize_with = "lenient")]
    attachment: bool,
    #[serde(deserialize_with = "lenient")]
    input: Inputs,
    #[serde(deserialize_with = "lenient")]
    output: Outputs,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Inputs {
    #[serde(deserialize_with = "lenient")]
    image: bool,
    #[serde(deserialize_with = "lenient")]
    pdf: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Outputs {
    #[serde(deserialize_with = "lenient")]
    text: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Cost {
    #[serde(deserialize_with = "lenient")]
    input: f64,
    #[serde(deserialize_with = "lenient")]
    output: f64,
    #[serde(deserialize_with = "lenient")]
    cache: CacheCost,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CacheCost {
    #[serde(deserialize_with = "lenient")]
    read: f64,
    #[serde(deserialize_with = "lenient")]
    write: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Limits {
    #[serde(deserialize_with = "lenient")]
    context: f64,
    #[serde(deserialize_with = "lenient")]
    output: f64,
}

impl ListedProvider {
    /// A provider that the server would use.
    pub(super) fn connected(self) -> (String, Provider) {
        let source = Source::parse(&self.source).unwrap_or_default();
        let is_key = |secret| is_key_of(&self.id, secret);
        let has_key = is_key(self.key) || is_key(self.options.api_key) || source == Source::Env;
        let models = self.models.unwrap_or_default().into_iter();
        let models = models.map(|(id, model)| (id.clone(), model.reduced(id))).collect();
        (self.id, Provider { source, has_key, connected: true, name: self.name, env: self.env, models })
    }

    /// A provider that is only known of. The server calls these `custom`, which would promise a login.
    pub(super) fn known(self) -> (String, Provider) {
        let (id, provider) = self.connected();
        (id, Provider { source: Source::Api, has_key: false, connected: false, ..provider })
    }
}

impl ListedModel {
    fn reduced(self, id: String) -> Model {
        Model {
            id,
            name: self.name,
            family: self.family,
            image_input: self.capabilities.input.image,
            tool_calls: self.capabilities.toolcall,
            reasoning: self.capabilities.reasoning,
            attachments: self.capabilities.attachment || self.capabilities.input.pdf,
            structured_output: self.structured_output,
            text_output: self.capabilities.output.text.unwrap_or(true),
            context: tokens(self.limit.context),
            output: tokens(self.limit.output),
            price: Price {
                input: nano(self.cost.input),
                output: nano(self.cost.output),
                cache_read: nano(self.cost.cache.read),
                cache_write: nano(self.cost.cache.write),
            },
            variants: self.variants.into_keys().collect(),
            status: Status::parse(&self.status).unwrap_or_default(),
            release_date: self.release_date.into(),
        }
    }
}

pub(super) fn tokens(limit: f64) -> u64 {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "token limits are small and whole")]
    let whole = limit as u64;
    whole
}

pub(super) fn nano(usd: f64) -> Nano {
    Nano::from_usd(usd).unwrap_or_default()
}
