//! Recovering checkouts whose update was cut off by the death of a process.
//!
//! Invariant: an update whose branch has moved is finished, any other is undone, and a checkout that a user has since
//! moved on is left as it is. The repository's lock is held throughout, so no update of ours is in progress.

use std::path::{Path, PathBuf};

use super::checkout::{Checkout, failed_at};
use super::checkout_lock::{CheckoutLock, LockFile, RENEWED};
use super::journal::Journal;
use super::lock::RepositoryLock;
use super::reference_move::clear_reference_locks;
use super::{Git, GitError};

/// What became of a checkout that a dead process left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// Branch, index and files are at the new commit.
    Finished,
    /// Index and files are at the old commit again, except for files that a user has changed since.
    Undone,
    /// Nothing had been changed; the lock is gone.
    Unlocked,
    /// A user has moved the checkout to another commit since: it stays as it is.
    LeftToUser,
    /// Another program holds the lock of the index: to be tried again.
    Busy,
    Failed {
        why: String,
    },
}

/// The checkouts that needed something, by the paths of their working trees.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Recovered {
    pub checkouts: Vec<(PathBuf, Recovery)>,
}

/// A checkout that needed something, and how its recovery went.
pub(super) type Attempt = (Checkout, Result<Recovery, GitError>);

impl Git {
    /// Finishes or undoes what dead processes of ours began in the checkouts of this repository. Waits, for at most the
    /// deadline of a call, until no living one is at work.
    pub fn recover_checkouts(&self, repository: &Path) -> Result<Recovered, GitError> {
        let lock = self.lock(repository)?;
        let common = self.common_directory(repository)?;
        let recovered = self.recover_all(&lock, &common)?.into_iter().map(|(checkout, outcome)| {
            (checkout.top, outcome.unwrap_or_else(|error| Recovery::Failed { why: with_causes(&error) }))
        });
        Ok(Recovered { checkouts: recovered.collect() })
    }

    pub(super) fn recover_all(&self, lock: &RepositoryLock, common: &Path) -> Result<Vec<Attempt>, GitError> {
        clear_reference_locks(common).map_err(failed_at(common))?;
        let recovered = Checkout::all(common).into_iter().filter_map(|checkout| {
            let outcome = self.recover(lock, &checkout).transpose()?;
            Some((checkout, outcome))
        });
        Ok(recovered.collect())
    }

    fn recover(&self, lock: &RepositoryLock, checkout: &Checkout) -> Result<Option<Recovery>, GitError> {
        let place = &checkout.place;
        let path = place.index_lock();
        let journal = Journal::load(place).map_err(failed_at(&place.journal()))?;
        let file = LockFile::at(&path).map_err(checkout.failed())?;
        let Some(journal) = journal else {
            place.clear().map_err(checkout.failed())?;
            if file != LockFile::Ours {
                return Ok(None);
            }
            super::journal::remove(&path).map_err(checkout.failed())?;
            return Ok(Some(Recovery::Unlocked));
        };
        let Some(held) = CheckoutLock::take(&path, RENEWED).map_err(checkout.failed())? else {
            return Ok(Some(Recovery::Busy));
        };
        // Where a git directory is apart from its files, only the journal knows where those are.
        let top = if journal.top.exists() { journal.top.clone() } else { checkout.top.clone() };
        let recovery = self.settle(lock, &held, &Checkout { top, place: place.clone() }, &journal)?;
        held.release().map_err(checkout.failed())?;
        Ok(Some(recovery))
    }

    /// Decides by where the branch and the checkout are now, and removes the journal.
    pub(super) fn settle(
        &self,
        lock: &RepositoryLock,
        held: &CheckoutLock,
        checkout: &Checkout,
        journal: &Journal,
    ) -> Result<Recovery, GitError> {
        let (at, is_head) = self.reference_at(&checkout.top, &journal.reference)?;
        let recovery = if is_head && at.as_deref() == Some(&journal.to) {
            Recovery::Finished
        } else if held.is_unbroken().map_err(checkout.failed())?
            || self.head(&checkout.top)?.as_deref() == Some(&journal.from)
        {
            // As long as our lock was there, whatever moved HEAD meant index and files to stay as they were.
            self.undo_checkout(lock, checkout, journal)?;
            Recovery::Undone
        } else {
            Recovery::LeftToUser
        };
        checkout.place.clear().map_err(checkout.failed())?;
        Ok(recovery)
    }
}

fn with_causes(error: &GitError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    std::iter::once(error.to_string()).chain(causes.map(ToString::to_string)).collect::<Vec<_>>().join(": ")
}
