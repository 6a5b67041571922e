//! One change of a repository's working trees at a time.
//!
//! Invariant: the lock is the system's, on a file that stays: a process that dies releases it, and no leftover file
//! means anything. It holds between processes and between threads.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Git, GitError, Hold, within};
use crate::bounded::wait_until;

/// Held until it is dropped.
#[derive(Debug)]
pub(super) struct RepositoryLock {
    file: File,
}

impl RepositoryLock {
    /// The same lock once more, for a child: it then lasts until that child has ended, also when this process is killed
    /// first. The child has it from its very first moment.
    pub(super) fn share(&self) -> io::Result<File> {
        self.file.try_clone()
    }
}

impl Git {
    /// Waits at most the deadline of a call for others of ours.
    pub(super) fn lock(&self, repository: &Path) -> Result<RepositoryLock, GitError> {
        Ok(RepositoryLock { file: self.lock_file(repository, "shuntyard.lock", self.idle_deadline)? })
    }

    /// A lock of this name, waited for no longer than that.
    pub(super) fn lock_file(&self, repository: &Path, name: &str, patience: Duration) -> Result<File, GitError> {
        let path = self.common_directory(repository)?.join(name);
        let take = || -> io::Result<File> {
            let file = open(&path)?;
            taken(patience, || file.try_lock())?;
            Ok(file)
        };
        take().map_err(|source| GitError::Lock { path: path.clone(), source })
    }

    /// The same git with the repository's lock held by every call. The lock is held for as long as this lives.
    pub(super) fn locked(&self, repository: &Path) -> Result<Self, GitError> {
        let lock = self.lock(repository)?;
        Ok(Self { hold: Some(Hold::of(lock.file)), ..self.clone() })
    }

    /// The directory that all working trees of a repository share. A plain repository is recognised without git: this
    /// is asked before almost every step.
    pub(super) fn common_directory(&self, repository: &Path) -> Result<PathBuf, GitError> {
        self.plain_directory(repository).map_or_else(|| self.git_path(repository, &["--git-common-dir"]), Ok)
    }

    /// The directory of this working tree's own administration.
    pub(super) fn own_directory(&self, worktree: &Path) -> Result<PathBuf, GitError> {
        self.plain_directory(worktree).map_or_else(|| self.git_path(worktree, &["--absolute-git-dir"]), Ok)
    }

    /// A place of this working tree's own administration, such as its `rebase-merge`.
    pub(super) fn own_path(&self, worktree: &Path, name: &str) -> Result<PathBuf, GitError> {
        match self.plain_directory(worktree) {
            Some(own) => Ok(own.join(name)),
            None => self.git_path(worktree, &["--git-path", name]),
        }
    }

    /// The git directory of a repository's main working tree, which the other working trees share.
    pub(super) fn plain_directory(&self, top: &Path) -> Option<PathBuf> {
        if let Some(bound) = &self.bound {
            return bound.check().is_ok().then(|| bound.git_dir.clone());
        }
        let own = top.join(".git");
        let is_plain = own.symlink_metadata().is_ok_and(|found| found.is_dir())
            && own.join("HEAD").is_file()
            && ["objects", "refs"].iter().all(|name| own.join(name).is_dir())
            && own.join("commondir").symlink_metadata().is_err();
        own.canonicalize().ok().filter(|_| is_plain)
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

/// Readable, because it can be the standard input of git; there is nothing in it.
pub(super) fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)
}

pub(super) fn taken(patience: Duration, attempt: impl Fn() -> Result<(), TryLockError>) -> io::Result<()> {
    let taken = wait_until(patience, || match attempt() {
        Ok(()) => Ok(Some(())),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    })?;
    taken.ok_or_else(|| io::Error::new(io::ErrorKind::TimedOut, "another process holds it for too long"))
}
