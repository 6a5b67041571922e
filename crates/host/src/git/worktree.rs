//! Working trees beside the main one, each on a branch of its own.

use std::ffi::OsStr;
use std::path::Path;

use super::{Git, GitError, within};

/// What becomes of files in a working tree that were never committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsavedWork {
    /// The removal is refused while there are any.
    Keep,
    Discard,
}

impl Git {
    /// Checks out `base` at `path` on the new branch `branch`.
    pub fn worktree_add(&self, repository: &Path, path: &Path, branch: &str, base: &str) -> Result<(), GitError> {
        let mut args = within(repository, &["worktree", "add", "--quiet", "-b", branch, "--"]);
        args.extend([path.as_os_str(), OsStr::new(base)]);
        self.succeed(&args).map(drop)
    }

    /// Removes the working tree; its branch stays.
    pub fn worktree_remove(&self, repository: &Path, path: &Path, unsaved: UnsavedWork) -> Result<(), GitError> {
        let mut args = within(repository, &["worktree", "remove"]);
        match unsaved {
            UnsavedWork::Keep => {}
            UnsavedWork::Discard => args.push(OsStr::new("--force")),
        }
        args.extend([OsStr::new("--"), path.as_os_str()]);
        self.succeed(&args).map(drop)
    }
}
