//! The lock of a checkout's index, held by us instead of a git process.
//!
//! Invariant: our lock file carries our mark from its first moment, so a stale one is never mistaken for another
//! program's, and only a file with the mark is ever removed. Which process of ours works on a repository is decided by
//! the repository's lock: the process that holds it knows that every lock file of ours is stale.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::journal::remove;
use crate::bounded::wait_until;
use crate::process::ProcessIdentity;

const MARK: &str = "shuntyard is updating this checkout";
/// The purpose of a lock that a recovery takes where a user has removed the first one.
pub(super) const RENEWED: &str = "recovery";
/// An editor asks for the status all the time, and git holds the lock for some milliseconds then.
const PATIENCE: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub(super) struct CheckoutLock {
    path: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockFile {
    Absent,
    Ours,
    Foreign,
}

impl LockFile {
    pub(super) fn at(path: &Path) -> io::Result<Self> {
        match fs::read(path) {
            Ok(content) if content.starts_with(MARK.as_bytes()) => Ok(Self::Ours),
            Ok(_) => Ok(Self::Foreign),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Self::Absent),
            // Another user's git.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(Self::Foreign),
            Err(error) => Err(error),
        }
    }
}

impl CheckoutLock {
    /// Creates the lock file, or takes over one that a dead process of ours left; `None` while another program has it.
    /// The caller holds the repository's lock.
    pub(super) fn take(path: &Path, purpose: &str) -> io::Result<Option<Self>> {
        wait_until(PATIENCE, || {
            let taken = match LockFile::at(path)? {
                LockFile::Ours => true,
                LockFile::Foreign => false,
                LockFile::Absent => create(path, &token(purpose)?)?,
            };
            Ok(taken.then(|| Self { path: path.to_owned() }))
        })
    }

    /// Whether no other git can have changed the index since the step began: the lock is the one that it began with.
    pub(super) fn is_unbroken(&self) -> io::Result<bool> {
        match fs::read_to_string(&self.path) {
            Ok(content) => Ok(content.starts_with(MARK) && !content.lines().any(|line| line == RENEWED)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// A user can have removed our lock by hand, and git can have made its own since: that one stays.
    pub(super) fn release(self) -> io::Result<()> {
        match LockFile::at(&self.path)? {
            LockFile::Ours => remove(&self.path),
            LockFile::Absent | LockFile::Foreign => Ok(()),
        }
    }
}

/// It is for people, too: git asks them to look at who holds the lock.
fn token(purpose: &str) -> io::Result<String> {
    let owner = ProcessIdentity::current()?;
    Ok(format!("{MARK}\nprocess {} started {}\n{purpose}\n", owner.pid, owner.start))
}

/// False when there is such a file already.
fn create(path: &Path, content: &str) -> io::Result<bool> {
    let mut draft = path.as_os_str().to_owned();
    draft.push(".shuntyard");
    let draft = PathBuf::from(draft);
    fs::write(&draft, content)?;
    // A link appears with its whole content, and only where there is nothing.
    let linked = fs::hard_link(&draft, path);
    remove(&draft)?;
    match linked {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        // Not every file system has links.
        Err(_) => match OpenOptions::new().write(true).create_new(true).open(path) {
            Ok(mut file) => file.write_all(content.as_bytes()).map(|()| true),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error),
        },
    }
}
