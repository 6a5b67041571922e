//! What is in a linked worktree, as commits. Neither its files nor its own index are changed for that.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::super::{Git, GitError, within};
use super::super::{file_error, remove_any};
use super::LinkedWorktree;

/// What is in a linked worktree.
pub(super) struct Content {
    /// What was checked out.
    pub(super) head: String,
    /// That, with what was not committed; `None` when git refuses to add something.
    pub(super) all: Option<String>,
    /// What was added to the index and is in no file.
    pub(super) staged: Option<String>,
}

impl LinkedWorktree<'_> {
    /// The same git with an index of ours: the worktree's own stays as it was until the worktree is removed.
    fn with_new_index(git: &Git, administration: &Path) -> Result<Git, GitError> {
        let index = new_index(administration);
        let lock = index.with_extension("lock");
        remove_any(&index)?;
        remove_any(&lock)?;
        Ok(git.with_index(&index))
    }

    pub(super) fn content(
        &self,
        git: &Git,
        administration: &Path,
        seen: Option<&String>,
        message: &str,
    ) -> Result<Content, GitError> {
        // A branch that was moved from elsewhere is not what was checked out here.
        let on_branch = git.current_branch(administration)?.is_some();
        let head = match seen.filter(|_| on_branch) {
            Some(seen) if git.has_commit(administration, seen)? => seen.clone(),
            _ => git.commit_of(administration, "HEAD")?,
        };
        let (top, index) = (self.directory, administration.join("index"));
        if !top.is_dir() {
            return Ok(Content { all: Some(head.clone()), staged: None, head });
        }
        let has_index = index.is_file();
        // Without an index git would write an empty one for this.
        let was_staged = if has_index { refused(git.line(&within(top, &["write-tree"])))?.ok() } else { None };
        let git = &Self::with_new_index(git, administration)?;
        let is_sparse = git.setting(top, "core.sparseCheckout")?.as_deref() == Some("true");
        if is_sparse && has_index {
            // Only this index knows which files were never checked out.
            fs::copy(&index, new_index(administration)).map_err(|source| file_error("copy", &index, source))?;
        } else {
            // A new index has no bits that hide changes, and can be read.
            git.succeed(&within(top, &["read-tree", &head]))?;
        }
        if !has_index {
            // The checkout was never finished. Only what it wrote itself is in it, or this cannot be determined.
            let changed = git.succeed(&within(top, &["diff-files", "--name-only", "--diff-filter=d"]))?;
            let others = git.succeed(&within(top, &["ls-files", "--others", "--exclude-standard"]))?;
            let all = (changed.is_empty() && others.is_empty()).then(|| head.clone());
            return Ok(Content { all, staged: None, head });
        }
        let tree = match refused(git.succeed(&within(top, &["add", "--all", "--sparse", "--", ":/"])))? {
            Ok(_) => Some(git.line(&within(top, &["write-tree"]))?),
            Err(_) => None,
        };
        let before = git.tree_of(top, &head)?;
        let commit = |tree: &str| git.line(&within(top, &["commit-tree", "-p", &head, "-m", message, tree]));
        let staged = was_staged.filter(|staged| *staged != before && tree.as_ref() != Some(staged));
        let staged = staged.map(|tree| commit(&tree)).transpose()?;
        let all = match tree {
            Some(tree) if tree == before => Some(head.clone()),
            Some(tree) => Some(commit(&tree)?),
            None => None,
        };
        Ok(Content { head, all, staged })
    }
}

/// What git itself refuses, with its words, apart from a git that was killed or could not be run.
pub(super) fn refused<T>(result: Result<T, GitError>) -> Result<Result<T, String>, GitError> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(GitError::Failed { code: Some(_), stderr, .. }) => Ok(Err(stderr)),
        Err(error) => Err(error),
    }
}

pub(super) fn new_index(administration: &Path) -> PathBuf {
    administration.join("shuntyard-index")
}
