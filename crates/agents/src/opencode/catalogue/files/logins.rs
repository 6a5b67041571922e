//! The logins that OpenCode has stored, reduced to whether there is one.

use super::{super::lenient::Secret, Places};
use serde_json::{Map, Value};
use shuntyard_host::text_file::{MOST_CONFIG_BYTES, read_text};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Login {
    /// A key, which may be empty.
    Key(Secret),
    /// Made in a browser.
    OAuth,
    /// Of an organisation, whose server gives OpenCode more configuration.
    WellKnown,
}

impl Login {
    pub(super) fn has_key(self) -> bool {
        self != Self::Key(Secret::Absent)
    }
}

pub(super) fn read(places: &Places, problems: &mut Vec<String>) -> BTreeMap<String, Login> {
    of(&entries(places, problems))
}

pub(super) fn of(entries: &Map<String, Value>) -> BTreeMap<String, Login> {
    entries.iter().filter_map(|(provider, entry)| Some((provider.clone(), login(entry)?))).collect()
}

/// The logins with their keys, for those who keep none.
pub(super) fn entries(places: &Places, problems: &mut Vec<String>) -> Map<String, Value> {
    content(places, problems).or_else(|| file(places, problems)).unwrap_or_default()
}

fn login(entry: &Value) -> Option<Login> {
    match entry.get("type")?.as_str()? {
        "api" => Some(Login::Key(Secret::of(entry.get("key").filter(|key| key.is_string())?))),
        "oauth" => Some(Login::OAuth),
        "wellknown" => Some(Login::WellKnown),
        _ => None,
    }
}

/// A variable that cannot be read leaves the file in force.
fn content(places: &Places, problems: &mut Vec<String>) -> Option<Map<String, Value>> {
    const CONTENT: &str = "OPENCODE_AUTH_CONTENT";
    let parsed = serde_json::from_str(places.variable(CONTENT)?);
    if parsed.is_err() {
        problems.push(format!("{CONTENT}: is not a JSON object"));
    }
    parsed.ok()
}

fn file(places: &Places, problems: &mut Vec<String>) -> Option<Map<String, Value>> {
    let path = places.logins();
    let problem = match read_text(&path, MOST_CONFIG_BYTES) {
        Ok(text) => match serde_json::from_str(&text) {
            Ok(entries) => return Some(entries),
            Err(_) => "is not a JSON object".to_owned(),
        },
        Err(error) if error.is_absent() => return None,
        Err(error) => format!("cannot be read: {error}"),
    };
    problems.push(format!("{}: {problem}", path.display()));
    None
}
