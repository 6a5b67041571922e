//! Reading other people's JSON: what has another shape than expected counts as missing, and a secret
//! counts as there or not there.

use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, IgnoredAny},
};
use serde_json::Value;

/// A field that is missing, null or of a shape that we do not know becomes its default.
pub(super) fn lenient<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned + Default,
{
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Shape<T> {
        Known(T),
        Other(IgnoredAny),
    }
    Ok(match Shape::<T>::deserialize(deserializer)? {
        Shape::Known(value) => value,
        Shape::Other(_) => T::default(),
    })
}

/// What is known about a key after it was seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Secret {
    #[default]
    Absent,
    /// The word that OpenCode itself sends where its own provider asks for no key.
    Public,
    Present,
}

impl Secret {
    pub(super) fn of(value: &Value) -> Self {
        match value {
            Value::Null => Self::Absent,
            Value::String(text) if text.is_empty() => Self::Absent,
            Value::String(text) if text == "public" => Self::Public,
            _ => Self::Present,
        }
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(|value| Self::of(&value))
    }
}

/// OpenCode's word for its own provider, whose free models need no key.
pub(super) const OPENCODE: &str = "opencode";

/// Whether an `apiKey` of this provider is a key.
pub(super) fn is_key_of(provider: &str, secret: Secret) -> bool {
    match secret {
        Secret::Absent => false,
        Secret::Public => provider != OPENCODE,
        Secret::Present => true,
    }
}
