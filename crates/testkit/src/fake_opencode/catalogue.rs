//! The providers that this directory can use, with their models, and those that are merely known.
//!
//! Sources as OpenCode has them: the stored catalogue, the configuration over it, logins and variables with keys.

use super::machine::Machine;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

const USUAL_PACKAGE: &str = "@ai-sdk/openai-compatible";
/// The efforts of a model that reasons and does not list its own.
const EFFORTS: [&str; 3] = ["low", "medium", "high"];

#[derive(Debug, Default)]
pub(super) struct Catalogue {
    /// Each as `GET /config/providers` has it.
    pub connected: Vec<Value>,
    pub all: Vec<Value>,
}

impl Catalogue {
    pub fn provider(&self, id: &str) -> Option<&Value> {
        self.connected.iter().find(|provider| provider["id"] == id)
    }

    pub fn model(&self, provider: &str, model: &str) -> Option<&Value> {
        self.provider(provider)?["models"].get(model)
    }

    /// The model of each provider that is taken when none is named.
    pub fn defaults(providers: &[Value]) -> Value {
        let last =
            |provider: &Value| provider["models"].as_object().and_then(|models| models.keys().next_back().cloned());
        let defaults = providers
            .iter()
            .filter_map(|provider| Some((provider["id"].as_str()?.to_owned(), Value::from(last(provider)?))));
        Value::Object(defaults.collect())
    }
}

pub(super) fn read(machine: &Machine, config: &Value) -> Catalogue {
    let stored = json_file(&machine.models_file());
    let logins = machine.variable("OPENCODE_AUTH_CONTENT").and_then(|text| serde_json::from_str(text).ok());
    let logins = logins.unwrap_or_else(|| json_file(&machine.data_directory().join("auth.json")));
    let names = |value: &Value| value.as_object().map(|map| map.keys().cloned().collect::<BTreeSet<_>>());
    let ids: BTreeSet<String> = [&stored, &config["provider"]].into_iter().filter_map(names).flatten().collect();
    let listed = |key: &str, id: &str| config[key].as_array().map(|ids| ids.iter().any(|known| known == id));
    let mut catalogue = Catalogue::default();
    for id in ids {
        if listed("disabled_providers", &id) == Some(true) || listed("enabled_providers", &id) == Some(false) {
            continue;
        }
        let (known, own, login) = (stored.get(&id), config["provider"].get(&id), &logins[&id]);
        let mut provider = described(&id, known, own);
        let key = provider["env"].as_array().into_iter().flatten().find_map(|name| machine.variable(name.as_str()?));
        let (source, key) = match (own, login["type"].as_str(), key) {
            (_, Some("api"), _) => ("api", login["key"].as_str().map(str::to_owned)),
            (_, _, Some(key)) => ("env", Some(key.to_owned())),
            (None, Some(_), None) => ("custom", None),
            (Some(_), _, None) => ("config", None),
            (None, None, None) => {
                catalogue.all.push(provider);
                continue;
            }
        };
        provider["source"] = json!(if own.is_some() { "config" } else { source });
        if let Some(key) = key {
            provider["key"] = json!(key);
        }
        if provider["models"].as_object().is_some_and(|models| !models.is_empty()) {
            catalogue.connected.push(provider.clone());
        }
        catalogue.all.push(provider);
    }
    catalogue
}

/// A provider as the stored catalogue and the configuration describe it together.
fn described(id: &str, known: Option<&Value>, own: Option<&Value>) -> Value {
    let null = Value::Null;
    let (known, own) = (known.unwrap_or(&null), own.unwrap_or(&null));
    let either = |key: &str| [&own[key], &known[key]].into_iter().find(|value| !value.is_null());
    let text = |key: &str| either(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut models: Map<String, Value> = Map::new();
    for (source, described) in [(known, false), (own, true)] {
        for (name, model) in source["models"].as_object().into_iter().flatten() {
            let behind = model["id"].as_str().unwrap_or(name);
            let base = models.get(behind).cloned();
            let api = json!({ "npm": text("npm"), "url": text("api") });
            models.insert(name.clone(), self::model((id, name), model, base.as_ref(), &api, described));
        }
    }
    let listed = |key: &str, name: &str| own[key].as_array().map(|names| names.iter().any(|known| known == name));
    models.retain(|name, model| {
        !matches!(model["status"].as_str(), Some("deprecated" | "alpha"))
            && listed("blacklist", name) != Some(true)
            && listed("whitelist", name) != Some(false)
    });
    let name = text("name");
    json!({
        "id": id, "name": if name.is_empty() { id } else { &name }, "source": "custom",
        "env": either("env").cloned().unwrap_or_else(|| json!([])),
        "options": own["options"].as_object().cloned().unwrap_or_default(), "models": models,
    })
}

fn model(
    (provider, id): (&str, &str),
    described: &Value,
    base: Option<&Value>,
    api: &Value,
    configured: bool,
) -> Value {
    let null = Value::Null;
    let base = base.unwrap_or(&null);
    let pick = |new: &Value, old: &Value, usual: Value| {
        [new, old].into_iter().find(|value| !value.is_null()).cloned().unwrap_or(usual)
    };
    let able = |key: &str, old: &str, usual: bool| pick(&described[key], &base["capabilities"][old], json!(usual));
    let kinds = |side: &str| {
        let listed = described["modalities"][side].as_array();
        let kind = |name: &str| match listed {
            Some(listed) => json!(listed.iter().any(|kind| kind == name)),
            None => pick(&base["capabilities"][side][name], &null, json!(configured && name == "text")),
        };
        ["text", "audio", "image", "video", "pdf"].map(|name| (name.to_owned(), kind(name))).into_iter().collect()
    };
    let (input, output): (Map<String, Value>, Map<String, Value>) = (kinds("input"), kinds("output"));
    let cost =
        |key: &str, old: &str| pick(&described["cost"][key], base["cost"].pointer(old).unwrap_or(&null), json!(0));
    let limit = |key: &str| pick(&described["limit"][key], &base["limit"][key], json!(0));
    let wire = |key: &str, usual: &str| {
        let written = described["provider"][key].as_str().or(api[usual].as_str()).filter(|text| !text.is_empty());
        written.or(base["api"][usual].as_str()).unwrap_or_default().to_owned()
    };
    let npm = Some(wire("npm", "npm")).filter(|npm| !npm.is_empty()).unwrap_or_else(|| USUAL_PACKAGE.to_owned());
    let reasoning = able("reasoning", "reasoning", false);
    let mut model = json!({
        "id": id, "providerID": provider, "name": pick(&described["name"], &base["name"], json!(id)),
        "api": { "id": pick(&described["id"], &base["api"]["id"], json!(id)), "url": wire("api", "url"), "npm": npm },
        "family": pick(&described["family"], &base["family"], json!("")),
        "status": pick(&described["status"], &base["status"], json!("active")),
        "capabilities": {
            "temperature": able("temperature", "temperature", false), "reasoning": reasoning,
            "attachment": able("attachment", "attachment", false), "toolcall": able("tool_call", "toolcall", true),
            "input": input, "output": output, "interleaved": false,
        },
        "cost": {
            "input": cost("input", "/input"), "output": cost("output", "/output"),
            "cache": { "read": cost("cache_read", "/cache/read"), "write": cost("cache_write", "/cache/write") },
        },
        "limit": { "context": limit("context"), "output": limit("output") },
        "options": pick(&described["options"], &base["options"], json!({})),
        "headers": pick(&described["headers"], &base["headers"], json!({})),
        "release_date": pick(&described["release_date"], &base["release_date"], json!("")),
        "variants": variants(described, base, reasoning == true),
    });
    if !described["structured_output"].is_null() {
        model["structured_output"] = described["structured_output"].clone();
    }
    model
}

fn variants(described: &Value, base: &Value, reasons: bool) -> Value {
    let mut variants = base["variants"].as_object().cloned().unwrap_or_default();
    let told = described["reasoning_options"].as_array().into_iter().flatten();
    let told =
        told.filter(|option| option["type"] == "effort").flat_map(|option| option["values"].as_array()).flatten();
    let mut efforts: Vec<&str> = told.map(|value| value.as_str().unwrap_or("none")).collect();
    if efforts.is_empty() && reasons && variants.is_empty() {
        efforts = EFFORTS.to_vec();
    }
    variants.extend(efforts.into_iter().map(|effort| (effort.to_owned(), json!({ "reasoningEffort": effort }))));
    for (name, variant) in described["variants"].as_object().into_iter().flatten() {
        if variant["disabled"] == true {
            variants.remove(name);
        } else {
            variants.insert(name.clone(), variant.clone());
        }
    }
    Value::Object(variants)
}

fn json_file(path: &std::path::Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    serde_json::from_str(&text).ok().filter(Value::is_object).unwrap_or_else(|| json!({}))
}
