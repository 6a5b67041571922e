//! Git for the user's repository, which has a known place and at least one known commit.
//!
//! Invariant: no repository above that place is ever used, also when the user's own disappears while git is called.

use std::ffi::OsString;
use std::path::Path;

use super::{Git, GitError};

const CEILINGS: &str = "GIT_CEILING_DIRECTORIES";

impl Git {
    /// The same git, which finds this repository in this place or none.
    #[must_use]
    pub fn not_above(&self, top: &Path) -> Self {
        let mut git = self.clone();
        let mut ceilings = OsString::from(top.parent().unwrap_or(top));
        if let Some(inherited) = self.variable(CEILINGS).filter(|inherited| !inherited.is_empty()) {
            ceilings.push(":");
            ceilings.push(inherited);
        }
        git.variables.push((CEILINGS.into(), ceilings));
        git
    }

    /// The same, after a check: the repository is there, and it is the one that has this commit.
    pub fn of_repository(&self, top: &Path, commit: Option<&str>) -> Result<Self, GitError> {
        let git = self.not_above(top);
        let wrong = |why| GitError::NotThatRepository { path: top.to_owned(), why };
        if git.plain_directory(top).is_none() && git.toplevel(top)?.as_deref() != Some(top) {
            return Err(wrong("the repository is gone"));
        }
        match commit {
            Some(commit) if !git.has_commit(top, commit)? => {
                Err(wrong("another repository is in its place, without the commit that the work starts from"))
            }
            Some(_) | None => Ok(git),
        }
    }
}
