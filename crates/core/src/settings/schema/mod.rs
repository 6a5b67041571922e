//! The JSON Schema of config.toml: names and defaults from the built-in settings, descriptions from the comments in
//! that file, and kinds of values from what the types accept. Nothing here names a setting.

mod probe;

use super::{comments::sections, layers::BUILT_IN, open::is_open};
use probe::Probe;
use serde_json::{Map, Value as Json, json};
use std::collections::BTreeMap;
use toml::{Table, Value};

/// For draft 2020-12. Every setting may be left out, and none may be added except in tables of names.
#[must_use]
pub fn schema() -> Json {
    // Settings that cannot be read are reported by every command; there is nothing to describe then.
    let built_in = BUILT_IN.as_ref().cloned().unwrap_or_default();
    let writer = Writer { probe: Probe::new(&built_in), about: descriptions() };
    let mut schema = writer.table("", &built_in);
    schema.insert("$schema".into(), "https://json-schema.org/draft/2020-12/schema".into());
    schema.insert("title".into(), "config.toml of shuntyard".into());
    Json::Object(schema)
}

struct Writer {
    probe: Probe,
    about: BTreeMap<String, String>,
}

impl Writer {
    fn table(&self, path: &str, table: &Table) -> Map<String, Json> {
        let mut schema = Map::from_iter([("type".to_owned(), json!("object"))]);
        if is_open(path) {
            schema.insert("additionalProperties".into(), self.probe.entry(path));
        } else {
            let properties = table.iter().map(|(key, value)| {
                let full = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                (key.clone(), Json::Object(self.setting(&full, value)))
            });
            schema.insert("properties".into(), properties.collect::<Map<_, _>>().into());
            schema.insert("additionalProperties".into(), false.into());
        }
        self.describe(path, &mut schema);
        schema
    }

    fn setting(&self, path: &str, default: &Value) -> Map<String, Json> {
        if let Value::Table(table) = default {
            return self.table(path, table);
        }
        let mut schema = match self.probe.setting(path) {
            Json::Object(schema) => schema,
            _ => Map::new(),
        };
        // What TOML can hold and JSON cannot are dates, and no setting is one.
        schema.insert("default".into(), serde_json::to_value(default).unwrap_or_default());
        self.describe(path, &mut schema);
        schema
    }

    fn describe(&self, path: &str, schema: &mut Map<String, Json>) {
        if let Some(about) = self.about.get(path).filter(|about| !about.is_empty()) {
            schema.insert("description".into(), about.as_str().into());
        }
    }
}

/// The comments, by path. Tables that are described together have their comment above the first one.
pub(super) fn descriptions() -> BTreeMap<String, String> {
    let mut about = BTreeMap::new();
    for section in sections() {
        for (key, words) in &section.settings {
            let path = if section.name.is_empty() { key.clone() } else { format!("{}.{key}", section.name) };
            let words = if words.is_empty() { &section.about } else { words };
            about.insert(path, words.clone());
        }
        if let Some((parent, _)) = section.name.rsplit_once('.')
            && is_group(parent)
        {
            about.entry(parent.to_owned()).or_insert_with(|| section.about.clone());
        }
        about.insert(section.name, section.about);
    }
    about
}

/// Whether the tables in it are entries with names, and it has no head of its own in the file.
fn is_group(path: &str) -> bool {
    is_open(path) || is_open(&format!("{path}."))
}

#[cfg(test)]
mod tests;
