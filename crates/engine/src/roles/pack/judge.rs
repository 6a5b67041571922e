//! What a restore does to each file: one that is neither as it was then nor as we left it is the user's, and stays
//! unless they say otherwise. Reads files and changes none.

use super::{
    backup::{Index, IndexEntry, backups, index},
    config::{ConfigUndo, turn_back},
    error::PackError,
    found::{Before, Found},
    later::manifest_then,
    manifest::Manifest,
    place::Place,
    report::{Answer, Change, Conflict},
    trust::installed,
    undo::way_back,
};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub struct Judged {
    pub files: Vec<JudgedFile>,
    /// The configuration when it was edited: only our entry in it goes back.
    pub config: Option<ConfigUndo>,
}

#[derive(Debug)]
pub struct JudgedFile {
    pub path: PathBuf,
    pub before: Before,
    pub found: Found,
    pub change: Change,
}

pub(super) fn judge(
    place: &Place,
    entries: Vec<IndexEntry>,
    decide: &mut dyn FnMut(&Conflict<'_>) -> Answer,
) -> Result<Judged, PackError> {
    let now = installed(place)?;
    let then = manifest_then(place, &entries)?;
    let indexes: Vec<Index> = backups(place).iter().filter_map(|backup| index(place, &backup.name).ok()).collect();
    let mut judged = Judged { files: Vec::new(), config: None };
    for IndexEntry { path, before } in entries {
        let found = Found::at(&path)?;
        let mut change = if before.matches(&found) { Change::Unchanged } else { way_back(&path, &before) };
        if change.touches() && !is_ours(place, &path, &found, now.as_ref(), &indexes) {
            let mine = now.as_ref().and_then(|now| now.config.as_ref()).filter(|mine| mine.path == path);
            if let Some(mine) = mine {
                judged.config = Some(turn_back(mine, then.as_ref().and_then(|then| then.config.as_ref()))?);
                continue;
            }
            let conflict = Conflict { path: &place.shown(&path), change: Change::KeptEdited, diff: "" };
            if decide(&conflict) == Answer::Keep {
                change = Change::KeptEdited;
            }
        }
        judged.files.push(JudgedFile { path, before, found, change });
    }
    Ok(judged)
}

/// Whether it was not written since we did. What was found before one of our changes is in its backup, and was put back
/// by us if it is there again.
fn is_ours(place: &Place, path: &Path, found: &Found, now: Option<&Manifest>, indexes: &[Index]) -> bool {
    if *found == Found::Absent || path == place.manifest() {
        return true;
    }
    let by_manifest = now.is_some_and(|now| {
        now.files.iter().any(|(name, entry)| place.file(name) == path && entry.is_ours(found))
            || now.config.as_ref().is_some_and(|config| config.path == path && config.is_ours(found))
    });
    let in_backup = |index: &Index| {
        index.entries.iter().any(|entry| entry.path == path && entry.before.matches(found))
            || index.left.iter().any(|left| left.path == path && found.is(&left.sha256))
    };
    by_manifest || indexes.iter().any(in_backup)
}
