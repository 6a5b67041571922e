//! The options of a provider and of a model, as far as their effect on a request is known. One that is not understood
//! is refused by its name.

use super::{super::layers::merge, NoAccess, defaults::Defaults};
use reqwest::header::{HeaderName, HeaderValue};
use secrecy::SecretString;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// How long OpenCode waits, and a hint for a cache that belongs to one of its sessions: nothing of it is the request.
const NO_PART_OF_A_REQUEST: [&str; 4] = ["timeout", "headerTimeout", "chunkTimeout", "setCacheKey"];
/// Options that OpenCode has a name of its own for.
const RENAMED: [(&str, &str); 3] =
    [("reasoningEffort", "reasoning_effort"), ("textVerbosity", "verbosity"), ("user", "user")];
/// Options that OpenCode sends as they are. It would do so with any other, but those may be no part of a text prompt.
const SENT_AS_THEY_ARE: [&str; 14] = [
    "chat_template_args",
    "chat_template_kwargs",
    "enable_thinking",
    "frequency_penalty",
    "min_p",
    "presence_penalty",
    "repetition_penalty",
    "seed",
    "service_tier",
    "temperature",
    "thinking",
    "thinking_budget",
    "top_k",
    "top_p",
];
/// Headers that belong to the transport or to the form of the request.
const NOT_THEIRS: [&str; 12] = [
    "accept",
    "accept-encoding",
    "connection",
    "content-encoding",
    "content-length",
    "content-type",
    "expect",
    "host",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];

/// Holds a key: no debug output.
#[derive(Default)]
pub(super) struct ProviderOptions {
    pub(super) base_url: Option<String>,
    /// Empty where it is named and there is none.
    pub(super) api_key: Option<String>,
    pub(super) headers: Map<String, Value>,
}

/// Fails with the name of an option.
pub(super) fn of_provider(config: &Map<String, Value>, provider: &str) -> Result<ProviderOptions, String> {
    let written = config.get("provider").and_then(|all| all.get(provider)?.get("options"));
    let mut options = ProviderOptions::default();
    let entries = match written {
        None => return Ok(options),
        Some(Value::Object(entries)) => entries,
        Some(_) => return Err("options".to_owned()),
    };
    for (name, value) in entries {
        match (name.as_str(), value) {
            // An empty address is as good as none.
            ("baseURL", Value::String(url)) => options.base_url = Some(url.clone()).filter(|url| !url.is_empty()),
            ("apiKey", Value::String(key)) => options.api_key = Some(key.clone()),
            ("headers", Value::Object(headers)) => options.headers.clone_from(headers),
            ("includeUsage", Value::Bool(true)) => {}
            (name, _) if NO_PART_OF_A_REQUEST.contains(&name) => {}
            (name, _) => return Err(name.to_owned()),
        }
    }
    Ok(options)
}

/// Those of the model over those of the provider.
pub(super) fn headers(
    of_provider: &Map<String, Value>,
    of_model: &Map<String, Value>,
) -> Result<Vec<(String, SecretString)>, NoAccess> {
    let mut all = BTreeMap::new();
    for headers in [of_provider, of_model] {
        let checked = headers.iter().map(|(name, value)| header(name, value));
        let checked: Option<BTreeMap<String, SecretString>> = checked.collect();
        // Of two that differ only in case, the order in the file decides.
        let checked = checked.filter(|checked| checked.len() == headers.len());
        all.extend(checked.ok_or_else(|| NoAccess::Options("headers".to_owned()))?);
    }
    Ok(all.into_iter().collect())
}

fn header(name: &str, value: &Value) -> Option<(String, SecretString)> {
    let (name, value) = (HeaderName::try_from(name).ok()?, value.as_str()?.trim());
    let sendable = HeaderValue::from_str(value).is_ok() && !NOT_THEIRS.contains(&name.as_str());
    sendable.then(|| (name.as_str().to_owned(), SecretString::from(value)))
}

/// What goes into the request besides the prompt. Fails with the name of an option.
pub(super) fn body(defaults: Defaults, of_model: &Map<String, Value>) -> Result<Map<String, Value>, String> {
    let Defaults { sampling: mut body, mut options } = defaults;
    merge(&mut options, of_model.clone());
    for (name, value) in options {
        let renamed = RENAMED.iter().find(|(own, _)| *own == name).filter(|_| value.is_string());
        match renamed {
            Some((_, wire)) => body.insert((*wire).to_owned(), value),
            None if SENT_AS_THEY_ARE.contains(&name.as_str()) && !value.is_null() => body.insert(name, value),
            None => return Err(name),
        };
    }
    Ok(body)
}
