//! What happened to a target after a backup was made, beyond the files that are in it: what has come since goes, what
//! was replaced or removed since comes back, and what was there all along stays.

use super::{
    backup::{IndexEntry, backups, content, index},
    config::{self, ConfigUndo},
    error::PackError,
    found::{Before, Found},
    manifest::Manifest,
    place::Place,
    trust::{installed, parsed},
    undo,
};
use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

/// `entries` and `directories` are those of the backup `name`, and get what is missing. Says what has to become of the
/// configuration, when that is more than putting a file back.
pub(super) fn undo_later(
    place: &Place,
    name: &str,
    entries: &mut Vec<IndexEntry>,
    directories: &mut Vec<PathBuf>,
) -> Result<Option<ConfigUndo>, PackError> {
    let (then, now) = (manifest_then(place, entries)?, installed(place)?);
    let then_files = then.as_ref().map(|then| &then.files);
    let now_files = now.as_ref().map(|now| &now.files);
    let names: BTreeSet<&String> = then_files.into_iter().chain(now_files).flat_map(|files| files.keys()).collect();
    for file in names {
        let path = place.file(file);
        if entries.iter().any(|known| known.path == path) {
            continue;
        }
        let found = Found::at(&path)?;
        let then = then_files.and_then(|files| files.get(file));
        let now = now_files.and_then(|files| files.get(file));
        let before = match (then, now) {
            (None, Some(now)) => undo::change(&path, now, &found).touches().then(|| now.before.clone()),
            (Some(then), Some(now)) if then.sha256 == now.sha256 => None,
            // What the user has made of it since is left to them.
            (Some(_), Some(now)) if !found.is(&now.sha256) => None,
            (Some(then), None) if !then.before.matches(&found) => None,
            (Some(_), _) => replaced_since(place, name, &path),
            (None, None) => None,
        };
        entries.extend(before.map(|before| IndexEntry { path, before }));
    }
    if let (None, Some(now)) = (&then, &now) {
        let more: Vec<PathBuf> = now.directories.iter().filter(|one| !directories.contains(one)).cloned().collect();
        directories.extend(more);
    }
    let (then, now) = (then.and_then(|then| then.config), now.and_then(|now| now.config));
    let Some(path) = then.as_ref().or(now.as_ref()).map(|mine| mine.path.clone()) else { return Ok(None) };
    if entries.iter().any(|known| known.path == path) {
        return Ok(None);
    }
    let found = Found::at(&path)?;
    let ours = match (&then, &now) {
        (None, Some(now)) => return config::undo(now).map(Some),
        (Some(then), Some(now)) => then.sha256 != now.sha256 && found.is(&now.sha256),
        (Some(then), None) => then.before.matches(&found),
        (None, None) => false,
    };
    let before = ours.then(|| replaced_since(place, name, &path)).flatten();
    entries.extend(before.map(|before| IndexEntry { path, before }));
    Ok(None)
}

pub(super) fn manifest_then(place: &Place, entries: &[IndexEntry]) -> Result<Option<Manifest>, PackError> {
    let path = place.manifest();
    match entries.iter().find(|entry| entry.path == path).map(|entry| &entry.before) {
        Some(Before::File { sha256, backup, .. }) => parsed(place, &content(&path, backup, sha256)?).map(Some),
        Some(Before::Absent | Before::Link { .. } | Before::Lost { .. }) | None => Ok(None),
    }
}

/// What the first change after a backup has found at a path.
fn replaced_since(place: &Place, name: &str, path: &Path) -> Option<Before> {
    let later = backups(place).into_iter().rev().filter(|backup| backup.name.as_str() > name);
    let indexes = later.filter_map(|backup| index(place, &backup.name).ok());
    indexes.flat_map(|index| index.entries).find(|entry| entry.path == path).map(|entry| entry.before)
}
