//! A lock held by every git that works for a workspace or on its refs, so that a git that outlived its killed
//! parent process can be waited for.
//!
//! Invariant: the lock is the standard input of git, from its first moment to its end. The calls of a workspace share
//! it; it is exclusive only for the moment in which [`Git::await_stragglers`] sees that none of them is running.

use std::fs::File;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::Arc;

use super::lock::{open, taken};
use super::{Git, GitError};

/// Which lock a call hands to git.
#[derive(Debug, Clone)]
pub struct Hold(Held);

#[derive(Debug, Clone)]
enum Held {
    /// Each call takes it for itself, shared with other calls.
    ByCall(PathBuf),
    /// It was taken before, for several calls.
    Taken(Arc<File>),
}

impl Hold {
    pub(super) fn by_call(path: PathBuf) -> Self {
        Self(Held::ByCall(path))
    }

    pub(super) fn of(lock: File) -> Self {
        Self(Held::Taken(Arc::new(lock)))
    }
}

impl Git {
    /// What git gets as its standard input; reading it finds the end at once.
    pub(super) fn input(&self) -> Result<Stdio, GitError> {
        let Some(Hold(held)) = &self.hold else { return Ok(Stdio::null()) };
        let (file, path) = match held {
            Held::Taken(lock) => (lock.try_clone(), PathBuf::new()),
            Held::ByCall(path) => {
                let take = || {
                    let file = open(path)?;
                    taken(self.idle_deadline, || file.try_lock_shared())?;
                    Ok(file)
                };
                (take(), path.clone())
            }
        };
        file.map(Stdio::from).map_err(|source| GitError::Lock { path, source })
    }

    /// Waits until no git runs for the workspace any more, of whichever process.
    pub(super) fn await_stragglers(&self) -> Result<(), GitError> {
        let Some(Hold(Held::ByCall(path))) = &self.hold else { return Ok(()) };
        let wait = || {
            let file = open(path)?;
            taken(self.idle_deadline, || file.try_lock())
        };
        wait().map_err(|source| GitError::Lock { path: path.clone(), source })
    }
}
