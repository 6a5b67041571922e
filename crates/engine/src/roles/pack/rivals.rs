//! What OpenCode mixes with a file of the pack because it has the same name: it reads `agent` beside `agents`,
//! `command` beside `commands`, and both from its configuration. Ours would look installed and another would count.

use super::{
    Part,
    error::PackError,
    found::Found,
    place::Place,
    report::{Change, FileReport},
};
use serde_json::Value;
use shuntyard_core::roles::pack::jsonc::value_at;

/// `agents configure` writes there which model an agent uses, which takes nothing from ours.
const HARMLESS: [&str; 2] = ["model", "variant"];

/// `files`: those of the pack, such as `agents/validator.md`.
pub fn rivals<'f>(place: &Place, files: impl IntoIterator<Item = &'f str>) -> Result<Vec<FileReport>, PackError> {
    let configs = texts(place)?;
    let mut found = Vec::new();
    for file in files {
        let Some((part, name)) = named(file) else { continue };
        let section = singular(part);
        let beside = format!("{section}/{name}.md");
        if place.file(&beside).symlink_metadata().is_ok() {
            found.push(rival(beside, file));
        }
        for (shown, text) in &configs {
            // OpenCode, and each command that needs it, reports a file that cannot be read.
            let Ok(Some(value)) = value_at(text, &[section, name]) else { continue };
            if says_more(&value) {
                found.push(rival(format!("{shown}: {section}.{name}"), file));
            }
        }
    }
    Ok(found)
}

fn named(file: &str) -> Option<(Part, &str)> {
    let (_, name) = file.split_once('/')?;
    Some((Part::of(file)?, name.strip_suffix(".md")?))
}

fn singular(part: Part) -> &'static str {
    match part {
        Part::Agents => "agent",
        Part::Commands => "command",
    }
}

fn says_more(value: &Value) -> bool {
    value.as_object().is_none_or(|fields| fields.keys().any(|key| !HARMLESS.contains(&key.as_str())))
}

fn rival(path: String, file: &str) -> FileReport {
    let note = Some(format!("OpenCode mixes it with {file} of the pack; rename it or move it away"));
    FileReport { note, ..FileReport::plain(path, Change::KeptForeign) }
}

fn texts(place: &Place) -> Result<Vec<(String, String)>, PackError> {
    let mut texts = Vec::new();
    for path in place.configs() {
        // OpenCode follows a link here, and so does this check, which changes nothing.
        let end = path.canonicalize().unwrap_or_else(|_| path.clone());
        if let Found::File { bytes, .. } = Found::at(&end)? {
            texts.push((place.shown(path), String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    Ok(texts)
}
