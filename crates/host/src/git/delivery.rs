//! What handing work over needs besides: one merge at a time, references that go, and checkouts to look at.

use std::ffi::OsStr;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::references::{Expected, UpdateRefError};
use super::{Author, Git, GitError, within};

/// A merge holds the others up for as long as its checks take.
const PATIENCE: Duration = Duration::from_secs(3 * 3600);

/// As long as it lives, nobody else of ours merges in this repository.
#[derive(Debug)]
pub struct MergeHold {
    _file: File,
}

impl Git {
    /// Waits for the merges of others. The lock goes with the process that holds it.
    pub fn hold_merges(&self, repository: &Path) -> Result<MergeHold, GitError> {
        let file = self.lock_file(repository, "switchyard-merge.lock", PATIENCE)?;
        Ok(MergeHold { _file: file })
    }

    /// A setting of git's, as it holds in this directory.
    pub fn setting(&self, directory: &Path, key: &str) -> Result<Option<String>, GitError> {
        match self.line(&within(directory, &["config", "--get", key])) {
            Ok(value) => Ok(Some(value)),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Removes the reference if it is at that commit. No working tree may have it checked out.
    pub fn delete_ref(&self, repository: &Path, reference: &str, at: &str) -> Result<(), UpdateRefError> {
        let result = self.succeed(&within(repository, &["update-ref", "-d", "--end-of-options", reference, at]));
        self.or_moved(repository, reference, Expected::At(at), result.map(drop))
    }

    /// Puts the branch where the working tree is, whatever branch that was on; the other one stays.
    pub fn adopt_head(&self, worktree: &Path, branch: &str) -> Result<(), GitError> {
        self.succeed(&within(worktree, &["checkout", "--quiet", "-B", branch])).map(drop)
    }

    /// Makes one commit of all that came after `base`. What was in between, and is not in the end, is gone from the
    /// branch.
    pub fn squash(&self, worktree: &Path, base: &str, message: &str, author: &Author) -> Result<(), GitError> {
        self.succeed(&within(worktree, &["reset", "--quiet", "--soft", "--end-of-options", base]))?;
        self.commit_all(worktree, message, author).map(drop)
    }

    /// Checks out a commit at `path`, on no branch.
    pub fn worktree_add_detached(&self, repository: &Path, path: &Path, commit: &str) -> Result<(), GitError> {
        let mut args = within(repository, &["worktree", "add", "--quiet", "--detach", "--"]);
        args.extend([path.as_os_str(), OsStr::new(commit)]);
        self.succeed(&args).map(drop)
    }
}
