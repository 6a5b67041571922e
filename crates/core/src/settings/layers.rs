//! Layers of settings: merged from the weakest to the strongest, with the origin of every value.
//!
//! A key that does not exist is an error with its place and the nearest one that does.

use super::{
    Config, DEFAULTS_JSON,
    open::{collect_leaves, is_open},
};
use crate::values::nearest::nearest;
use serde::Deserialize as _;
use std::{collections::BTreeMap, fmt, sync::LazyLock};
use toml::{Table, Value};

/// Where a value came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    BuiltIn,
    File(String),
    /// A file that came with a repository: foreign, as far as we know.
    Repository(String),
    Variable(String),
    Flag(String),
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built in"),
            Self::File(path) | Self::Repository(path) => f.write_str(path),
            Self::Variable(name) => write!(f, "${name}"),
            Self::Flag(flag) => f.write_str(flag),
        }
    }
}

/// One source of settings.
#[derive(Debug, Clone)]
pub struct Layer {
    pub origin: Origin,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    #[error("{origin} is not valid TOML: {problem}")]
    Syntax { origin: String, problem: String },
    #[error("{origin}{line}: unknown setting `{key}`{suggestion}")]
    UnknownKey { origin: String, line: String, key: String, suggestion: String },
    #[error("{origin}: a repository may not set `{key}`; it belongs in your own configuration")]
    NotForRepositories { origin: String, key: &'static str },
    #[error("{origin}: `{key}` {problem}")]
    BadValue { origin: String, key: String, problem: String },
}

/// The merged configuration.
#[derive(Debug, Clone)]
pub struct Layered {
    pub config: Config,
    /// Where each setting comes from that is not as it is built in.
    pub origins: BTreeMap<String, Origin>,
    above: Vec<Table>,
}

impl Layered {
    /// Merges `layers` over the built-in settings; later ones win. Only the types are checked.
    pub(crate) fn merge_unchecked(layers: &[Layer]) -> Result<Self, ConfigError> {
        let built_in = BUILT_IN.as_ref().map_err(Clone::clone)?;
        let mut above = Vec::with_capacity(layers.len());
        let mut origins = BTreeMap::new();
        for layer in layers {
            let table = parse(layer)?;
            refuse_unknown("", &table, built_in, layer)?;
            refuse_foreign(&table, layer)?;
            note_origins("", &table, &layer.origin, &mut origins);
            above.push(table);
        }
        let config = config_of(built_in, &above, &origins)?;
        Ok(Self { config, origins, above })
    }

    /// Whether a section is not as it is built in.
    pub(crate) fn is_changed(&self, section: &str) -> bool {
        self.above.iter().any(|table| table.contains_key(section))
    }

    /// Every setting as it is in force.
    #[must_use]
    pub fn values(&self) -> Table {
        // One that could not be read would not have been merged.
        BUILT_IN.as_ref().map(|built_in| merged(built_in, &self.above)).unwrap_or_default()
    }
}

fn config_of(built_in: &Table, above: &[Table], origins: &BTreeMap<String, Origin>) -> Result<Config, ConfigError> {
    Config::deserialize(merged(built_in, above)).map_err(|error| bad_value(&key_of(&error), error.message(), origins))
}

/// The key whose value could not be read. The error has it only in its printed form: the message, then "in `key`".
fn key_of(error: &toml::de::Error) -> String {
    let text = error.to_string();
    let after = text.strip_prefix(error.message()).unwrap_or_default().trim();
    after.strip_prefix("in `").and_then(|key| key.strip_suffix('`')).unwrap_or_default().to_owned()
}

fn merged(built_in: &Table, above: &[Table]) -> Table {
    let mut values = built_in.clone();
    for table in above {
        overlay(&mut values, table);
    }
    values
}

/// Every command asks for them twice.
pub(super) static BUILT_IN: LazyLock<Result<Table, ConfigError>> = LazyLock::new(|| {
    serde_json::from_str(DEFAULTS_JSON)
        .map_err(|error| ConfigError::Syntax { origin: Origin::BuiltIn.to_string(), problem: error.to_string() })
});

fn parse(layer: &Layer) -> Result<Table, ConfigError> {
    layer.text.parse().map_err(|error: toml::de::Error| ConfigError::Syntax {
        origin: layer.origin.to_string(),
        problem: error.to_string().trim_end().to_owned(),
    })
}

pub(crate) fn bad_value(key: &str, problem: &str, origins: &BTreeMap<String, Origin>) -> ConfigError {
    let origin = origins.get(key).map_or_else(|| "the configuration".to_owned(), Origin::to_string);
    ConfigError::BadValue { origin, key: key.to_owned(), problem: problem.trim_end().to_owned() }
}

fn refuse_unknown(path: &str, table: &Table, known: &Table, layer: &Layer) -> Result<(), ConfigError> {
    for (key, value) in table {
        let full = join(path, key);
        let Some(expected) = known.get(key) else {
            if is_open(path) {
                continue;
            }
            let suggestion =
                meant(path, key, known).map_or_else(String::new, |setting| format!("; did you mean `{setting}`?"));
            return Err(ConfigError::UnknownKey {
                origin: layer.origin.to_string(),
                line: line_of(&layer.text, key),
                key: full,
                suggestion,
            });
        };
        if let (Value::Table(inner), Value::Table(expected)) = (value, expected) {
            refuse_unknown(&full, inner, expected, layer)?;
        }
    }
    Ok(())
}

/// The nearest name in the same section or, where there is none, the nearest setting of all.
fn meant(path: &str, key: &str, known: &Table) -> Option<String> {
    if let [name] = nearest(key, known.keys().map(String::as_str), 1)[..] {
        return Some(join(path, name));
    }
    let mut settings = Vec::new();
    collect_leaves("", BUILT_IN.as_ref().ok()?, &mut settings);
    let name_of = |setting: &str| setting.rsplit('.').next().unwrap_or_default().to_owned();
    let names: Vec<String> = settings.iter().map(|(setting, _)| name_of(setting)).collect();
    let near = nearest(key, names.iter().map(String::as_str), 1).first().copied()?;
    settings.into_iter().map(|(setting, _)| setting).find(|setting| name_of(setting) == near)
}

/// Settings and sections that only the user decides on.
const FOREIGN: [&str; 22] = [
    "repository",
    "server.binary",
    "server.url",
    "store",
    "policy",
    "catalogue",
    "availability",
    "budget",
    "patterns",
    "classifier.model",
    "via",
    "consensus",
    "supervise",
    "permissions",
    "jobs",
    "workers",
    "fallback.cooldowns",
    "dispatch.permission_answer",
    "dispatch.first_token_timeout",
    "dispatch.inactivity_timeout",
    "dispatch.retry_wait_cap",
    "dispatch.provider_retries",
];

/// Which program is run, who is trusted with prompts and where data goes are not for a
/// repository to decide: reading one must not run it. What is learned there about providers holds for all
/// other work, so the timers that lead to it are not for a repository either.
fn refuse_foreign(table: &Table, layer: &Layer) -> Result<(), ConfigError> {
    if !matches!(layer.origin, Origin::Repository(_)) {
        return Ok(());
    }
    for key in FOREIGN {
        let mut parts = key.split('.');
        let first = parts.next().and_then(|part| table.get(part));
        let found = parts.fold(first, |value, part| value.and_then(|value| value.get(part)));
        if found.is_some() {
            return Err(ConfigError::NotForRepositories { origin: layer.origin.to_string(), key });
        }
    }
    Ok(())
}

/// The line on which `key` is set, as `:7`; nothing when it is written in a way we cannot see.
fn line_of(text: &str, key: &str) -> String {
    let sets = |line: &str| {
        let line = line.trim_start().trim_start_matches('[');
        line.strip_prefix(key).is_some_and(|rest| rest.trim_start().starts_with(['=', ']', '.']))
    };
    text.lines().position(sets).map_or_else(String::new, |index| format!(":{}", index + 1))
}

fn note_origins(path: &str, table: &Table, origin: &Origin, origins: &mut BTreeMap<String, Origin>) {
    for (key, value) in table {
        let full = join(path, key);
        match value {
            Value::Table(inner) => note_origins(&full, inner, origin, origins),
            _ => {
                origins.insert(full, origin.clone());
            }
        }
    }
}

fn overlay(below: &mut Table, above: &Table) {
    for (key, value) in above {
        match (below.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(value)) => overlay(inner, value),
            (_, value) => {
                below.insert(key.clone(), value.clone());
            }
        }
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") }
}
