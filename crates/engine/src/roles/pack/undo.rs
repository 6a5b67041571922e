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
pub fn change(path: &Path, entry: &Entry, found: &Found) -> Change {
    if entry.before.matches(found) {
        return Change::Unchanged;
    }
    match found {
        // Our file was removed, or an interrupted change never wrote it: what was there before is still to be put back.
        Found::Absent => way_back(path, &entry.before),
        _ if entry.is_ours(found) => way_back(path, &entry.before),
        _ => Change::KeptEdited,
    }
}

/// How a file gets back to what was there, which is known before the first change: a backup may be gone.
pub fn way_back(path: &Path, before: &Before) -> Change {
    match before {
        Before::Absent => Change::Remove,
        Before::Link { .. } => Change::PutBack,
        Before::File { sha256, backup, .. } if content(path, backup, sha256).is_ok() => Change::PutBack,
        Before::File { .. } | Before::Lost { .. } => Change::KeptLost,
    }
}

/// Makes it so.
pub fn put_back(disk: &Disk, path: &Path, before: &Before) -> Result<(), PackError> {
    match before {
        Before::Absent => disk.remove(path),
        Before::Link { to } => disk.link(path, to),
        Before::File { sha256, mode, backup } => disk.write(path, &content(path, backup, sha256)?, Some(*mode)),
        Before::Lost { .. } => Err(PackError::BackupLost(path.to_path_buf())),
    }
}
