//! Settings from the environment: `SHUNTYARD_` and the setting's path, dots as underscores.

use super::{Layer, Origin, layers::BUILT_IN, literal::list, open::collect_leaves, schema::descriptions};
use toml::Value;

/// Names that read better than the rule would make them.
const SHORT_NAMES: [(&str, &str); 3] = [
    ("SHUNTYARD_STORE", "store.url"),
    ("SHUNTYARD_OPENCODE_BIN", "server.binary"),
    ("SHUNTYARD_OPENCODE_URL", "server.url"),
];

/// One layer for each variable that sets something, in the order of their names.
#[must_use]
pub fn overrides_from_variables(lookup: impl Fn(&str) -> Option<String>) -> Vec<Layer> {
    let mut settings = Vec::new();
    // Where they cannot be read, the merge reports it.
    if let Ok(defaults) = BUILT_IN.as_ref() {
        collect_leaves("", defaults, &mut settings);
    }
    let mut layers = Vec::new();
    for (path, default) in settings {
        let long = format!("SHUNTYARD_{}", path.to_uppercase().replace('.', "_"));
        let short = SHORT_NAMES.iter().find(|(_, setting)| *setting == path).map(|(name, _)| (*name).to_owned());
        for name in [Some(long), short].into_iter().flatten() {
            if let Some(value) = lookup(&name).filter(|value| !value.is_empty()) {
                layers.push(Layer { origin: Origin::Variable(name), text: assignment(&path, default, &value) });
            }
        }
    }
    layers
}

/// Every setting that has a place of its own, with its comment in the built-in file.
#[must_use]
pub fn setting_paths() -> Vec<(String, String)> {
    let mut settings = Vec::new();
    if let Ok(defaults) = BUILT_IN.as_ref() {
        collect_leaves("", defaults, &mut settings);
    }
    let about = descriptions();
    settings.into_iter().map(|(path, _)| (path.clone(), about.get(&path).cloned().unwrap_or_default())).collect()
}

/// Numbers are written bare when they are numbers, lists with commas between; anything else is a string, so that a
/// wrong value meets the ordinary type check with its ordinary message.
fn assignment(path: &str, default: &Value, value: &str) -> String {
    let literal = match default {
        Value::Integer(_) if value.parse::<i64>().is_ok() => value.to_owned(),
        Value::Boolean(_) if matches!(value, "true" | "false") => value.to_owned(),
        Value::Array(_) => list(value),
        _ => Value::String(value.to_owned()).to_string(),
    };
    format!("{path} = {literal}\n")
}
