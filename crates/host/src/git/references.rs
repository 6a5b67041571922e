//! Making, moving and deleting branches.
//!
//! Invariant: a reference changes only from the value that the caller has seen, checked by git in the same step.

use std::path::{Path, PathBuf};

use super::{Git, GitError, operation, within};

/// What a reference must hold for a change to take place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expected<'a> {
    /// The full name of a commit.
    At(&'a str),
    /// The reference is to be created.
    Absent,
}

impl Expected<'_> {
    fn is_met_by(self, at: Option<&str>) -> bool {
        match self {
            Self::At(commit) => at == Some(commit),
            Self::Absent => at.is_none(),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum UpdateRefError {
    /// Another process was faster; `at` is where the reference is now.
    #[error("move {name}: by now it is {}", at.as_ref().map_or("gone".to_owned(), |at| format!("at {at}")))]
    Moved { name: String, at: Option<String> },
    #[error(transparent)]
    Git(#[from] GitError),
}

/// What became of a branch that was to be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BranchDeletion {
    Deleted,
    /// There was no such branch.
    Absent,
    /// It has commits that the other branch has not.
    Unmerged {
        commits: Vec<String>,
    },
    /// A working tree is on it, or will be when its rebase or bisect ends.
    CheckedOut {
        path: PathBuf,
    },
    /// It got another commit meanwhile, and was not touched.
    Moved,
}

impl Git {
    /// Points the reference (`refs/heads/…`) at `new` if it is as expected. No working tree follows.
    pub fn update_ref(
        &self,
        repository: &Path,
        reference: &str,
        new: &str,
        expected: Expected<'_>,
    ) -> Result<(), UpdateRefError> {
        let old = match expected {
            Expected::At(commit) => commit,
            // The empty value is git's word for a reference that must not exist.
            Expected::Absent => "",
        };
        let words = ["update-ref", "-m", "shuntyard", "--end-of-options", reference, new, old];
        let result = self.succeed(&within(repository, &words)).map(drop);
        self.or_moved(repository, reference, expected, result)
    }

    /// Makes a branch at a commit. One that exists is an error, also when it is at that commit.
    pub fn branch_create(&self, repository: &Path, name: &str, at: &str) -> Result<(), UpdateRefError> {
        let result = self.succeed(&within(repository, &["branch", "--no-track", "--end-of-options", name, at]));
        self.or_moved(repository, &format!("refs/heads/{name}"), Expected::Absent, result.map(drop))
    }

    /// A change that failed is looked into: a reference that is not as expected explains it.
    pub(super) fn or_moved(
        &self,
        repository: &Path,
        reference: &str,
        expected: Expected<'_>,
        result: Result<(), GitError>,
    ) -> Result<(), UpdateRefError> {
        let Err(error) = result else { return Ok(()) };
        let at = self.reference_commit(repository, reference)?;
        if expected.is_met_by(at.as_deref()) {
            return Err(error.into());
        }
        Err(UpdateRefError::Moved { name: reference.to_owned(), at })
    }

    /// Deletes a branch that is wholly part of `into`, and of which no working tree needs the name.
    pub fn delete_branch_if_merged(
        &self,
        repository: &Path,
        branch: &str,
        into: &str,
    ) -> Result<BranchDeletion, GitError> {
        let Some(at) = self.branch_commit(repository, branch)? else { return Ok(BranchDeletion::Absent) };
        let commits = self.commits_between(repository, into, &at)?;
        if !commits.is_empty() {
            return Ok(BranchDeletion::Unmerged { commits });
        }
        let trees = self.worktree_list(repository)?;
        if let Some(tree) = trees.into_iter().find(|tree| tree.branch.as_deref() == Some(branch)) {
            return Ok(BranchDeletion::CheckedOut { path: tree.path });
        }
        let name = format!("refs/heads/{branch}");
        if let Some((path, _)) = operation::holding(&self.common_directory(repository)?, &name) {
            return Ok(BranchDeletion::CheckedOut { path });
        }
        let deleted = self.delete_ref(repository, &name, Some(&at));
        match self.or_moved(repository, &name, Expected::At(&at), deleted) {
            Ok(()) => Ok(BranchDeletion::Deleted),
            Err(UpdateRefError::Moved { at: None, .. }) => Ok(BranchDeletion::Absent),
            Err(UpdateRefError::Moved { .. }) => Ok(BranchDeletion::Moved),
            Err(UpdateRefError::Git(error)) => Err(error),
        }
    }
}
