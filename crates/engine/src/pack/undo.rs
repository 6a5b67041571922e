//! Brings a file back to what it was before us.

use super::{
    backup::content,
    disk::Disk,
    error::PackError,
    found::{Before, Found},
    manifest::Entry,
    report::Change,
};
use std::path::Path;

/// What has to happen to a file of ours so that it is as before. That a user put the old one back is as good.
pub fn change(entry: &Entry, found: &Found) -> Change {
    let goes_back = match entry.before {
        Before::Absent => Change::Remove,
        Before::File { .. } | Before::Link { .. } => Change::PutBack,
    };
    if entry.before.matches(found) {
        return Change::Unchanged;
    }
    match found {
        // Somebody removed our file, or an interrupted change never wrote it: what was there before is still owed.
        Found::Absent => goes_back,
        _ if entry.is_ours(found) => goes_back,
        _ => Change::KeptEdited,
    }
}

/// Makes it so.
pub fn put_back(disk: &Disk, path: &Path, before: &Before) -> Result<(), PackError> {
    match before {
        Before::Absent => disk.remove(path),
        Before::Link { to } => disk.link(path, to),
        Before::File { sha256, mode, backup } => disk.write(path, &content(path, backup, sha256)?, Some(*mode)),
    }
}
