//! One merge at a time in each repository, and the settings that hold there.

use std::fs::File;
use std::path::Path;
use std::time::Duration;

use super::{Author, Git, GitError, records, within};

/// A merge holds the others up for as long as its checks take.
const PATIENCE: Duration = Duration::from_secs(3 * 3600);

/// As long as it lives, no other process of ours merges in this repository.
#[derive(Debug)]
pub struct MergeHold {
    _file: File,
}

impl Git {
    /// Waits for the merges of others. The lock goes with the process that holds it.
    pub fn hold_merges(&self, repository: &Path) -> Result<MergeHold, GitError> {
        let file = self.lock_file(repository, "shuntyard-merge.lock", PATIENCE)?;
        Ok(MergeHold { _file: file })
    }

    /// The values of `user.name` and `user.email`, as they hold in this directory. One that is not set is empty.
    pub fn user(&self, directory: &Path) -> Result<Author, GitError> {
        let mut user = Author::default();
        let listed = match self.succeed(&within(directory, &["config", "-z", "--get-regexp", r"^user\.(name|email)$"]))
        {
            Err(GitError::Failed { code: Some(1), .. }) => return Ok(user),
            listed => listed?,
        };
        // Of two with one key, git takes the later.
        for record in records(&listed).map(String::from_utf8_lossy) {
            match record.split_once('\n') {
                Some(("user.name", value)) => value.trim().clone_into(&mut user.name),
                Some(("user.email", value)) => value.trim().clone_into(&mut user.email),
                Some(_) | None => {}
            }
        }
        Ok(user)
    }

    /// A setting of git's, as it holds in this directory.
    pub fn setting(&self, directory: &Path, key: &str) -> Result<Option<String>, GitError> {
        match self.line(&within(directory, &["config", "--get", key])) {
            Ok(value) => Ok(Some(value)),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
