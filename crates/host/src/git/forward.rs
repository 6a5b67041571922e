//! Moving a branch forward, and the checkout that is on it along with it.
//!
//! Invariant: the branch moves only from the commit that the caller has seen, and a file that a user changed is never
//! overwritten: then nothing moves at all. Neither does a branch that an operation in progress depends on.

use std::path::{Path, PathBuf};

use super::journal::Administration;
use super::lock::RepositoryLock;
use super::operation::{self, Operation};
use super::recovery::Recovery;
use super::reference_move::ReferenceMove;
use super::{Git, GitError, Worktree};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FastForward {
    Done,
    AlreadyThere,
    /// The branch is elsewhere by now, or gone.
    Moved {
        at: Option<String>,
    },
    /// The new commit does not come after the old one.
    NotForward,
    /// A working tree is on the branch and has changes of its own in these files.
    CheckedOutDirty {
        path: PathBuf,
        files: Vec<PathBuf>,
    },
    /// The branch is needed where it is until the operation in this working tree has ended.
    Busy {
        path: PathBuf,
        operation: Operation,
    },
}

pub(super) struct Step<'a> {
    pub repository: &'a Path,
    /// The directory that all working trees share.
    pub common: &'a Path,
    /// The full name of the branch.
    pub reference: &'a str,
    pub from: &'a str,
    pub to: &'a str,
}

impl Git {
    /// Moves a branch from one commit to a later one. First, whatever a dead process left is recovered.
    pub fn fast_forward(&self, repository: &Path, branch: &str, from: &str, to: &str) -> Result<FastForward, GitError> {
        let lock = self.lock(repository)?;
        let common = &self.common_directory(repository)?;
        let recovered = self.recover_all(&lock, common)?;
        let (from, to) = (&self.full_name(repository, from)?, &self.full_name(repository, to)?);
        let (reference, at) = self.final_reference(repository, branch)?;
        let reference = reference.as_str();
        if at.as_ref() == Some(to) {
            return Ok(FastForward::AlreadyThere);
        }
        if at.as_ref() != Some(from) {
            return Ok(FastForward::Moved { at });
        }
        if !self.is_ancestor(repository, from, to)? {
            return Ok(FastForward::NotForward);
        }
        let step = Step { repository, common, reference, from, to };
        if let Some((path, operation)) = operation::holding(common, reference) {
            return Ok(FastForward::Busy { path, operation });
        }
        let trees = self.worktree_list(repository)?;
        let name = reference.strip_prefix("refs/heads/");
        let on_it = |tree: &&Worktree| tree.branch.as_deref() == name && tree.prunable.is_none();
        let on_it: Vec<&Worktree> = trees.iter().filter(on_it).collect();
        if let Some(operation) = operation::locked_reference(common, reference) {
            let path = on_it.first().map_or(repository, |tree| &tree.path).to_owned();
            return Ok(FastForward::Busy { path, operation });
        }
        match on_it.as_slice() {
            [] => self.forward_reference(&lock, &step),
            [tree] => {
                let checkout = self.checkout_of(repository, tree)?;
                // What could not be recovered must not be built upon.
                match recovered.into_iter().find(|(found, _)| found.is(&checkout)) {
                    Some((_, Err(error))) => return Err(error),
                    Some((_, Ok(Recovery::Busy))) => {
                        let operation = Operation::Locked { file: checkout.place.index_lock() };
                        return Ok(FastForward::Busy { path: checkout.top, operation });
                    }
                    Some((_, Ok(_))) | None => {}
                }
                self.forward_checkout(&lock, &checkout, &step)
            }
            [tree, other, ..] => {
                let operation = Operation::SecondCheckout { path: other.path.clone() };
                Ok(FastForward::Busy { path: tree.path.clone(), operation })
            }
        }
    }

    /// The reference that moves, and the commit that it is at. A branch can be another name for a branch; then that one
    /// moves, as with git itself.
    fn final_reference(&self, repository: &Path, branch: &str) -> Result<(String, Option<String>), GitError> {
        let name = format!("refs/heads/{branch}");
        let found = self.reference_as(repository, &name, "%(objectname) %(symref)")?;
        let (commit, target) = match found.as_deref().and_then(|found| found.split_once(' ')) {
            Some((commit, target)) => (Some(commit.to_owned()), target.to_owned()),
            None => (None, String::new()),
        };
        Ok((if target.is_empty() { name } else { target }, commit))
    }

    fn forward_reference(&self, lock: &RepositoryLock, step: &Step<'_>) -> Result<FastForward, GitError> {
        let place = Administration { directory: self.own_directory(step.repository)? };
        let moved = self.move_reference(
            lock,
            &ReferenceMove {
                top: step.repository,
                place: &place,
                common: step.common,
                reference: step.reference,
                from: step.from,
                to: step.to,
            },
        );
        let at = self.reference_commit(step.repository, step.reference)?;
        match moved {
            _ if at.as_deref() == Some(step.to) => Ok(FastForward::Done),
            Err(error) if at.as_deref() == Some(step.from) => Err(error),
            Ok(()) | Err(_) => Ok(FastForward::Moved { at }),
        }
    }
}
