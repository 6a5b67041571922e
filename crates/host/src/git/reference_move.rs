//! Moving a reference, and removing the lock files that a killed git leaves of it.
//!
//! Invariant: a lock file is removed only while no git of ours runs, when a note records that one of ours was moving
//! this very reference, and when the file is younger than the note, holds nothing else and does not go away by itself.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::checkout::failed_at;
use super::held::HeldCall;
use super::journal::{Administration, remove};
use super::lock::RepositoryLock;
use super::{Git, GitError, path_of, records};
use crate::bounded::wait_until;

const NAME: &str = "shuntyard-reference";
const DRAFT: &str = "shuntyard-reference.new";
/// Git holds these locks for milliseconds.
const PATIENCE: Duration = Duration::from_millis(500);

pub(super) struct ReferenceMove<'a> {
    pub top: &'a Path,
    pub place: &'a Administration,
    pub common: &'a Path,
    /// The full name.
    pub reference: &'a str,
    pub from: &'a str,
    pub to: &'a str,
}

impl Git {
    /// Moves the reference if it is at `from`, and leaves no lock behind whatever becomes of git.
    pub(super) fn move_reference(&self, lock: &RepositoryLock, step: &ReferenceMove<'_>) -> Result<(), GitError> {
        let trouble = failed_at(step.common);
        write_note(step).map_err(&trouble)?;
        let message = "shuntyard: fast-forward";
        let words = ["update-ref", "-m", message, "--end-of-options", step.reference, step.to, step.from];
        let moved = self.run_held(lock, HeldCall { top: step.top, words: &words, index: None, input: None });
        clear_reference_locks(step.common).map_err(&trouble)?;
        moved
    }
}

fn write_note(step: &ReferenceMove<'_>) -> io::Result<()> {
    let place = step.place.directory.as_os_str().as_bytes();
    let note = [place, step.reference.as_bytes(), step.to.as_bytes()].join(&0);
    let draft = step.common.join(DRAFT);
    fs::write(&draft, note)?;
    fs::rename(draft, step.common.join(NAME))
}

/// Clears the locks of the reference that the note names. The caller holds the repository's lock.
pub(super) fn clear_reference_locks(common: &Path) -> io::Result<()> {
    // Of a process that died before its note was complete.
    remove(&common.join(DRAFT))?;
    let path = common.join(NAME);
    let (bytes, noted) = match fs::read(&path) {
        Ok(bytes) => (bytes, fs::metadata(&path)?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if let [place, reference, to] = records(&bytes).collect::<Vec<_>>().as_slice() {
        let directories = [common.to_owned(), path_of(place)];
        let of_files =
            [directories[0].join(path_of(reference)), directories[0].join("HEAD"), directories[1].join("HEAD")];
        for mut lock in of_files.map(PathBuf::into_os_string) {
            lock.push(".lock");
            clear(Path::new(&lock), &noted, Some(to))?;
        }
        for directory in directories.map(|directory| directory.join("reftable")) {
            let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
            for lock in entries.filter(|path| path.extension().is_some_and(|extension| extension == "lock")) {
                clear(&lock, &noted, None)?;
            }
        }
    }
    remove(&path)
}

/// `to` is what git would have written; the lock of a reftable holds names of files.
fn clear(lock: &Path, noted: &Metadata, to: Option<&[u8]>) -> io::Result<()> {
    let Ok(found) = fs::symlink_metadata(lock) else { return Ok(()) };
    let moment = |of: &Metadata| (of.mtime(), of.mtime_nsec());
    let content = fs::read(lock).unwrap_or_default();
    let fits = to.is_none_or(|to| [to, b"\n".as_slice()].concat().starts_with(&content));
    if moment(&found) < moment(noted) || !fits {
        return Ok(());
    }
    let same =
        || fs::symlink_metadata(lock).is_ok_and(|now| now.ino() == found.ino() && moment(&now) == moment(&found));
    match wait_until(PATIENCE, || Ok((!same()).then_some(())))? {
        Some(()) => Ok(()),
        None => remove(lock),
    }
}
