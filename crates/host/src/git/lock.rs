//! One change of a repository's working trees at a time.
//!
//! Invariant: the lock is the system's, on a file that stays: whoever dies lets go of it, and no leftover file means
//! anything. It holds between processes and between threads.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Git, GitError, within};
use crate::bounded::wait_until;

/// Held until it is dropped.
#[derive(Debug)]
pub(super) struct RepositoryLock {
    _file: File,
}

impl Git {
    /// Waits at most the deadline of a call for others of ours.
    pub(super) fn lock(&self, repository: &Path) -> Result<RepositoryLock, GitError> {
        Ok(RepositoryLock { _file: self.lock_file(repository, "switchyard.lock", self.deadline)? })
    }

    /// A lock of this name, waited for no longer than that.
    pub(super) fn lock_file(&self, repository: &Path, name: &str, patience: Duration) -> Result<File, GitError> {
        let path = self.common_directory(repository)?.join(name);
        let take = || -> io::Result<File> {
            let file = OpenOptions::new().write(true).create(true).truncate(false).open(&path)?;
            let taken = wait_until(patience, || match file.try_lock() {
                Ok(()) => Ok(Some(())),
                Err(TryLockError::WouldBlock) => Ok(None),
                Err(TryLockError::Error(error)) => Err(error),
            })?;
            let too_long = || io::Error::new(io::ErrorKind::TimedOut, "another process holds it for too long");
            taken.map(|()| file).ok_or_else(too_long)
        };
        take().map_err(|source| GitError::Lock { path: path.clone(), source })
    }

    /// The directory that all working trees of a repository share.
    fn common_directory(&self, repository: &Path) -> Result<PathBuf, GitError> {
        self.git_path(repository, &["--git-common-dir"])
    }

    /// A place of this working tree's own administration, such as its `rebase-merge`.
    pub(super) fn own_path(&self, worktree: &Path, name: &str) -> Result<PathBuf, GitError> {
        self.git_path(worktree, &["--git-path", name])
    }

    fn git_path(&self, directory: &Path, which: &[&str]) -> Result<PathBuf, GitError> {
        let words: Vec<&str> =
            ["rev-parse", "--path-format=absolute"].into_iter().chain(which.iter().copied()).collect();
        let mut output = self.succeed(&within(directory, &words))?;
        if output.ends_with(b"\n") {
            output.pop();
        }
        Ok(PathBuf::from(std::ffi::OsString::from_vec(output)))
    }
}
