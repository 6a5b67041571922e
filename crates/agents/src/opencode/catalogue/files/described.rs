//! A model as OpenCode's stored catalogue and its configuration describe it: one shape, in which every
//! field may be missing. What is missing is taken from elsewhere, or is a default.

use super::super::lenient::lenient;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Described {
    /// The name under which the provider itself knows it.
    #[serde(deserialize_with = "lenient")]
    pub(super) id: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) name: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) family: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) attachment: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(super) reasoning: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(super) tool_call: Option<bool>,
    /// Whether it takes one.
    #[serde(deserialize_with = "lenient")]
    pub(super) temperature: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(super) structured_output: Option<bool>,
    #[serde(deserialize_with = "lenient")]
    pub(super) modalities: Modalities,
    #[serde(deserialize_with = "lenient")]
    pub(super) cost: Cost,
    #[serde(deserialize_with = "lenient")]
    pub(super) limit: Limit,
    #[serde(deserialize_with = "lenient")]
    pub(super) release_date: Option<String>,
    #[serde(deserialize_with = "lenient")]
    pub(super) status: Option<String>,
    #[serde(deserialize_with = "lenient")]
    reasoning_options: Vec<ReasoningOption>,
    #[serde(deserialize_with = "lenient")]
    experimental: Experimental,
    #[serde(deserialize_with = "lenient")]
    provider: Package,
    #[serde(deserialize_with = "lenient")]
    pub(super) variants: BTreeMap<String, Variant>,
    /// What goes with each request.
    #[serde(deserialize_with = "lenient")]
    pub(super) options: Map<String, Value>,
    #[serde(deserialize_with = "lenient")]
    pub(super) headers: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Modalities {
    #[serde(deserialize_with = "lenient")]
    pub(super) input: Option<Vec<String>>,
    #[serde(deserialize_with = "lenient")]
    pub(super) output: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Cost {
    #[serde(deserialize_with = "lenient")]
    pub(super) input: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) output: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) cache_read: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) cache_write: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Limit {
    #[serde(deserialize_with = "lenient")]
    pub(super) context: Option<f64>,
    #[serde(deserialize_with = "lenient")]
    pub(super) output: Option<f64>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ReasoningOption {
    #[serde(rename = "type", deserialize_with = "lenient")]
    kind: String,
    #[serde(deserialize_with = "lenient")]
    values: Vec<Option<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Experimental {
    #[serde(deserialize_with = "lenient")]
    modes: BTreeMap<String, Mode>,
}

/// A way to run a model that OpenCode offers as a model of its own.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Mode {
    #[serde(deserialize_with = "lenient")]
    pub(super) cost: Option<Cost>,
    #[serde(deserialize_with = "lenient")]
    provider: Requests,
}

/// What goes with each request of a mode.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Requests {
    #[serde(deserialize_with = "lenient")]
    body: Option<Map<String, Value>>,
    #[serde(deserialize_with = "lenient")]
    headers: Option<Map<String, Value>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Package {
    #[serde(deserialize_with = "lenient")]
    npm: Option<String>,
    #[serde(deserialize_with = "lenient")]
    api: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Variant {
    #[serde(deserialize_with = "lenient")]
    pub(super) disabled: bool,
}

impl Described {
    /// The package that speaks to this model, where it is another one than the provider's.
    pub(super) fn npm(&self) -> Option<&str> {
        self.provider.npm.as_deref()
    }

    /// The address of this model's API, where it is another one than the provider's.
    pub(super) fn api(&self) -> Option<&str> {
        self.provider.api.as_deref()
    }

    pub(super) fn modes(&self) -> &BTreeMap<String, Mode> {
        &self.experimental.modes
    }

    /// The efforts that it can be asked to make. OpenCode calls the one without a name `none`.
    pub(super) fn efforts(&self) -> impl Iterator<Item = String> {
        let efforts = self.reasoning_options.iter().find(|option| option.kind == "effort");
        efforts.into_iter().flat_map(|option| &option.values).map(|value| value.as_deref().unwrap_or("none").to_owned())
    }
}

impl Mode {
    pub(super) fn body(&self) -> Option<&Map<String, Value>> {
        self.provider.body.as_ref()
    }

    pub(super) fn headers(&self) -> Option<&Map<String, Value>> {
        self.provider.headers.as_ref()
    }
}
