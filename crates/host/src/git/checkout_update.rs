//! Moving a branch and the checkout that is on it, as one step.
//!
//! Invariant: the step is done when the branch has moved, and not before. Until then everything can be undone with the
//! journal; no other git changes the index meanwhile, because we hold its lock.

use std::fs;
use std::path::PathBuf;

use super::checkout::Checkout;
use super::checkout_lock::CheckoutLock;
use super::forward::{FastForward, Step};
use super::held::HeldCall;
use super::journal::{Journal, copy_synced, sync_directory};
use super::lock::RepositoryLock;
use super::obstacles::Obstacles;
use super::operation::Operation;
use super::recovery::Recovery;
use super::reference_move::ReferenceMove;
use super::{Git, GitError};

/// Whether the step may begin.
enum Ready {
    /// The first are as in the new commit already, the others as in the old one though git does not look at them.
    With {
        kept: Vec<PathBuf>,
        overlooked: Vec<PathBuf>,
    },
    No(FastForward),
}

impl Git {
    pub(super) fn forward_checkout(
        &self,
        lock: &RepositoryLock,
        checkout: &Checkout,
        step: &Step<'_>,
    ) -> Result<FastForward, GitError> {
        let file = checkout.place.index_lock();
        let purpose = format!("{}\nfrom {}\nto {}", step.reference, step.from, step.to);
        let Some(held) = CheckoutLock::take(&file, &purpose).map_err(checkout.failed())? else {
            return Ok(FastForward::Busy { path: checkout.top.clone(), operation: Operation::Locked { file } });
        };
        let (kept, overlooked) = match self.ready(checkout, step) {
            Ok(Ready::With { kept, overlooked }) => (kept, overlooked),
            Ok(Ready::No(outcome)) => return held.release().map_err(checkout.failed()).map(|()| outcome),
            Err(error) => {
                held.release().map_err(checkout.failed())?;
                return Err(error);
            }
        };
        let journal = Journal {
            top: checkout.top.clone(),
            reference: step.reference.to_owned(),
            from: step.from.to_owned(),
            to: step.to.to_owned(),
            kept,
        };
        let updated = self.update_checkout(lock, checkout, &journal, step, &overlooked);
        // The end of the step and the recovery of a dead one are the same: what counts is where the branch is.
        let recovery = self.settle(lock, &held, checkout, &journal)?;
        held.release().map_err(checkout.failed())?;
        self.outcome(checkout, step, &recovery, updated)
    }

    /// What the caller saw before the lock was ours is looked at again.
    fn ready(&self, checkout: &Checkout, step: &Step<'_>) -> Result<Ready, GitError> {
        let path = checkout.top.clone();
        let (at, is_head) = self.reference_at(&path, step.reference)?;
        if at.as_deref() != Some(step.from) || !is_head {
            return Ok(Ready::No(FastForward::Moved { at }));
        }
        if let Some(operation) = self.operation_in(checkout)? {
            return Ok(Ready::No(FastForward::Busy { path, operation }));
        }
        let Obstacles { files, hidden, overlooked, conflicts } = self.in_the_way(&path, step.from, step.to)?;
        if conflicts {
            return Ok(Ready::No(FastForward::Busy { path, operation: Operation::Conflicts }));
        }
        Ok(if files.is_empty() || !hidden && self.are_as_in(&path, step.to, &files)? {
            Ready::With { kept: files, overlooked }
        } else {
            Ready::No(FastForward::CheckedOutDirty { path, files })
        })
    }

    fn update_checkout(
        &self,
        lock: &RepositoryLock,
        checkout: &Checkout,
        journal: &Journal,
        step: &Step<'_>,
        overlooked: &[PathBuf],
    ) -> Result<(), GitError> {
        let place = &checkout.place;
        let (index, draft) = (place.index(), place.draft());
        copy_synced(&index, &place.old_index()).map_err(checkout.failed())?;
        journal.store(place).map_err(checkout.failed())?;
        copy_synced(&index, &draft).map_err(checkout.failed())?;
        self.look_again_at(lock, checkout, overlooked)?;
        self.write_files(lock, checkout, journal)?;
        let install = || {
            copy_synced(&draft, &place.new_index())?;
            fs::rename(&draft, &index)?;
            sync_directory(&place.directory)
        };
        install().map_err(checkout.failed())?;
        let step = ReferenceMove {
            top: &checkout.top,
            place,
            common: step.common,
            reference: step.reference,
            from: step.from,
            to: step.to,
        };
        self.move_reference(lock, &step)
    }

    /// Git compares these files again before it replaces them. The user's marks go with the old content.
    fn look_again_at(&self, lock: &RepositoryLock, checkout: &Checkout, files: &[PathBuf]) -> Result<(), GitError> {
        let (top, draft) = (&checkout.top, checkout.place.draft());
        for mark in ["--no-assume-unchanged", "--no-skip-worktree"].into_iter().filter(|_| !files.is_empty()) {
            let input = checkout.place.paths(files).map_err(checkout.failed())?;
            let words = ["update-index", mark, "-z", "--stdin"];
            self.run_held(lock, HeldCall { top, words: &words, index: Some(&draft), input: Some(input) })?;
        }
        Ok(())
    }

    fn write_files(&self, lock: &RepositoryLock, checkout: &Checkout, journal: &Journal) -> Result<(), GitError> {
        let (top, draft) = (&checkout.top, checkout.place.draft());
        let call = |words: &[&str]| self.run_held(lock, HeldCall { top, words, index: Some(&draft), input: None });
        // A file that was only touched would count as changed; unrelated changes end this with 1.
        match call(&["update-index", "-q", "--refresh"]) {
            Ok(()) | Err(GitError::Failed { code: Some(1), .. }) => {}
            Err(error) => return Err(error),
        }
        if !journal.kept.is_empty() {
            let input = checkout.place.paths(&journal.kept).map_err(checkout.failed())?;
            let words = ["update-index", "--add", "--remove", "-z", "--stdin"];
            self.run_held(lock, HeldCall { top, words: &words, index: Some(&draft), input: Some(input) })?;
        }
        // Submodules stay where they are, as with a merge.
        call(&["read-tree", "-m", "-u", "--no-recurse-submodules", &journal.from, &journal.to])
    }

    fn outcome(
        &self,
        checkout: &Checkout,
        step: &Step<'_>,
        recovery: &Recovery,
        updated: Result<(), GitError>,
    ) -> Result<FastForward, GitError> {
        if *recovery == Recovery::Finished {
            return Ok(FastForward::Done);
        }
        let at = self.reference_commit(&checkout.top, step.reference)?;
        if at.as_deref() == Some(step.to) {
            return Ok(FastForward::Done);
        }
        let Err(error) = updated else {
            // A user has moved the branch since.
            return Ok(FastForward::Moved { at });
        };
        if at.as_deref() != Some(step.from) {
            return Ok(FastForward::Moved { at });
        }
        let Obstacles { files, .. } = self.in_the_way(&checkout.top, step.from, step.to)?;
        let path = checkout.top.clone();
        if files.is_empty() { Err(error) } else { Ok(FastForward::CheckedOutDirty { path, files }) }
    }
}
