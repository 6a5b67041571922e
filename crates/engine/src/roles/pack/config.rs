//! The entry of our MCP server in a configuration file of OpenCode.

use super::{
    backup::{Backup, content},
    config_text::{self, ConfigTextError, Registered},
    diff::unified_config,
    disk::Disk,
    error::PackError,
    found::{Before, Found, hash},
    manifest::ConfigEntry,
    place::Place,
    report::{Answer, Change, Conflict, FileReport},
    undo::{put_back, way_back},
};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// A file that is made with nothing else in it.
const MINIMAL: &str = "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n";

/// What has to happen so that the server is registered.
#[derive(Debug)]
pub struct ConfigStep {
    pub path: PathBuf,
    pub found: Found,
    pub change: Change,
    /// The whole file afterwards.
    pub text: String,
    diff: Option<String>,
    made_section: bool,
    value: Value,
    base: Base,
}

/// What the file would be without our entry.
#[derive(Debug)]
enum Base {
    /// As it is there now.
    There,
    /// As an earlier edit of ours noted it.
    Known(Before),
    /// As it is there now, without an older entry of ours.
    Without(String),
}

pub fn plan(
    place: &Place,
    command: &[String],
    mine: Option<&ConfigEntry>,
    decide: &mut dyn FnMut(&Conflict<'_>) -> Answer,
) -> Result<ConfigStep, PackError> {
    let path = mine.map_or_else(|| place.config(), |mine| Ok(mine.path.clone()))?;
    let found = Found::at(&path)?;
    let fail = |source| PackError::Config { path: path.clone(), source };
    let text = text_of(&found).map_err(fail)?;
    let value = json!({"type": "local", "command": command, "enabled": true});
    let there = config_text::entry(text.as_deref().unwrap_or(MINIMAL)).map_err(fail)?;
    let ours = mine.filter(|mine| there.as_ref() == Some(&mine.value));
    // Without the backup only the text can show what is not ours.
    let untouched = mine.filter(|mine| found.is(&mine.sha256) && way_back(&path, &mine.before) != Change::KeptLost);
    let base_text = match (&ours, untouched) {
        (Some(_), Some(mine)) => earlier(&path, &mine.before)?,
        (Some(mine), None) => {
            text.as_deref().map(|text| config_text::unregister(text, mine.made_section)).transpose().map_err(fail)?
        }
        (None, _) => text.clone(),
    };
    let base = match (&ours, untouched, &base_text) {
        (Some(_), Some(mine), _) => Base::Known(mine.before.clone()),
        (Some(_), None, Some(text)) => Base::Without(text.clone()),
        (Some(_), None, None) | (None, _, _) => Base::There,
    };
    let Registered { text: after, made_section } =
        config_text::register(base_text.as_deref().unwrap_or(MINIMAL), &value).map_err(fail)?;
    let mut change = match (&text, &there) {
        (None, _) => Change::Write,
        (Some(_), Some(entry)) if *entry == value => Change::Unchanged,
        (Some(_), Some(_)) if ours.is_some() => Change::Replace,
        (Some(_), Some(_)) => Change::KeptForeign,
        (Some(_), None) => Change::Replace,
    };
    let shown = place.shown(&path);
    let diff = change.is_kept().then_some(()).or(change.touches().then_some(()));
    let diff = diff.map(|()| unified_config(&shown, text.as_deref().unwrap_or_default(), &after));
    if change.is_kept() {
        let conflict = Conflict { path: &shown, change, diff: diff.as_deref().unwrap_or_default() };
        if decide(&conflict) == Answer::Replace {
            change = Change::Replace;
        }
    }
    Ok(ConfigStep { path, found, change, text: after, diff, made_section, value, base })
}

impl ConfigStep {
    /// For the manifest, with what was there before in the backup.
    pub fn entry(&self, backup: &mut Backup) -> Result<ConfigEntry, PackError> {
        let now = backup.keep(&self.path, &self.found)?;
        let before = match &self.base {
            Base::There => now,
            Base::Known(before) => before.clone(),
            Base::Without(text) => backup.content(text.as_bytes(), self.found.mode().unwrap_or(0o644))?,
        };
        Ok(ConfigEntry {
            path: self.path.clone(),
            sha256: hash(self.text.as_bytes()),
            before,
            value: self.value.clone(),
            made_section: self.made_section,
            replaces: match self.base {
                Base::Known(_) => self.found.hash(),
                Base::There | Base::Without(_) => None,
            },
        })
    }

    pub fn told(&self, place: &Place) -> FileReport {
        FileReport { diff: self.diff.clone(), ..FileReport::plain(place.shown(&self.path), self.change) }
    }
}

/// What has to happen so that the entry is gone.
#[derive(Debug)]
pub struct ConfigUndo {
    pub path: PathBuf,
    pub found: Found,
    pub change: Change,
    to: To,
}

#[derive(Debug)]
enum To {
    Before(Before),
    Text(String),
    Nothing,
}

pub fn undo(mine: &ConfigEntry) -> Result<ConfigUndo, PackError> {
    let path = mine.path.clone();
    let found = Found::at(&path)?;
    if mine.before.matches(&found) {
        return Ok(ConfigUndo { path, found, change: Change::Unchanged, to: To::Nothing });
    }
    match way_back(&path, &mine.before) {
        change if change.touches() && mine.is_ours(&found) => {
            Ok(ConfigUndo { path, found, change, to: To::Before(mine.before.clone()) })
        }
        // Edited since, or what was there is lost: only our entry goes.
        _ => turn_back(mine, None),
    }
}

/// Our entry as it was `then`, or gone; all else in the file stays as it is now.
pub fn turn_back(mine: &ConfigEntry, then: Option<&ConfigEntry>) -> Result<ConfigUndo, PackError> {
    let path = mine.path.clone();
    let found = Found::at(&path)?;
    let text = text_of(&found).ok().flatten();
    let entry = text.as_deref().and_then(|text| config_text::entry(text).ok().flatten());
    let (change, to) = match (text, entry) {
        (Some(_), Some(entry)) if then.is_some_and(|then| then.value == entry) => (Change::Unchanged, To::Nothing),
        (Some(text), Some(entry)) if entry == mine.value => {
            // Taken out first, so that what is entered again looks like the file.
            let without = config_text::unregister(&text, mine.made_section);
            let turned = match then {
                Some(then) => {
                    without.and_then(|text| config_text::register(&text, &then.value)).map(|registered| registered.text)
                }
                None => without,
            };
            let turned = turned.map_err(|source| PackError::Config { path: path.clone(), source })?;
            (Change::Replace, To::Text(turned))
        }
        // Another command under our name is the user's own.
        (Some(_), Some(_)) => (Change::KeptEdited, To::Nothing),
        (_, None) | (None, _) => (Change::Unchanged, To::Nothing),
    };
    Ok(ConfigUndo { path, found, change, to })
}

impl ConfigUndo {
    pub fn apply(&self, disk: &Disk, mine: &ConfigEntry) -> Result<(), PackError> {
        if self.change.touches() && Found::at(&self.path)? != self.found {
            // Another program has just written it: its text stays, without our entry.
            let again = turn_back(mine, None)?;
            return again.carry_out(disk);
        }
        self.carry_out(disk)
    }

    fn carry_out(&self, disk: &Disk) -> Result<(), PackError> {
        match &self.to {
            To::Nothing => Ok(()),
            To::Before(before) => put_back(disk, &self.path, before),
            To::Text(text) => disk.write(&self.path, text.as_bytes(), self.found.mode()),
        }
    }

    /// What will be there, as something that can be put back later.
    pub fn to_before(&self, backup: &mut Backup) -> Result<Option<Before>, PackError> {
        match &self.to {
            To::Nothing => Ok(None),
            To::Before(before) => Ok(Some(before.clone())),
            To::Text(text) => backup.content(text.as_bytes(), self.found.mode().unwrap_or(0o644)).map(Some),
        }
    }

    /// Keeps what is there, and notes what will be: no manifest will know that text as one of ours.
    pub fn keep(&self, backup: &mut Backup) -> Result<Before, PackError> {
        if let To::Text(text) = &self.to {
            backup.leaves(&self.path, hash(text.as_bytes()));
        }
        backup.keep(&self.path, &self.found)
    }

    pub fn told(&self, place: &Place) -> FileReport {
        FileReport::plain(place.shown(&self.path), self.change)
    }
}

fn text_of(found: &Found) -> Result<Option<String>, ConfigTextError> {
    match found {
        Found::Absent => Ok(None),
        Found::File { bytes, .. } => String::from_utf8(bytes.clone()).map(Some).map_err(|_| ConfigTextError::NotText),
        // The path was followed to its end, so that this link has just been put there.
        Found::Link { .. } => Err(ConfigTextError::NotText),
    }
}

fn earlier(path: &Path, before: &Before) -> Result<Option<String>, PackError> {
    match before {
        Before::File { sha256, backup, .. } => {
            Ok(Some(String::from_utf8_lossy(&content(path, backup, sha256)?).into_owned()))
        }
        Before::Absent | Before::Link { .. } | Before::Lost { .. } => Ok(None),
    }
}
