//! Removing a working tree only when nothing is lost by it.
//!
//! Invariant: nothing is ever forced. What git itself would not remove stays, and so does what only this working tree
//! holds. Ignored files, such as those that a build made, are not work and are removed.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::changes::Submodules;
use super::{Git, GitError, Worktree};

/// What would be lost with a working tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Safety {
    /// Changed, staged and new paths, relative to its top.
    pub uncommitted: Vec<PathBuf>,
    /// Commits that no branch, tag or remote-tracking branch leads to. Its own branch counts, for that stays.
    pub unreachable: Vec<String>,
}

impl Safety {
    #[must_use]
    pub fn is_safe(&self) -> bool {
        self.uncommitted.is_empty() && self.unreachable.is_empty()
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Removal {
    /// It is gone, or was gone before.
    Removed,
    Kept(KeepReason),
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeepReason {
    #[error("it holds work that is nowhere else: {} paths and {} commits", .0.uncommitted.len(), .0.unreachable.len())]
    Unsaved(Safety),
    #[error("it is the main working tree")]
    Main,
    #[error("it is not a working tree of this repository")]
    Foreign,
    #[error("it is locked: {0}")]
    Locked(String),
    #[error("another working tree is inside it: {}", .0.display())]
    Holds(PathBuf),
    /// Its link to the repository is missing, so its content cannot be determined.
    #[error("it has lost its link to the repository")]
    Damaged,
    /// Among others: it has submodules, whose own commits would go with it.
    #[error("git does not remove it: {0}")]
    Refused(String),
}

impl Git {
    /// What would be lost if the working tree were removed now.
    fn safety(&self, repository: &Path, path: &Path, head: Option<&str>) -> Result<Safety, GitError> {
        let mut safety = Safety::default();
        if path.exists() {
            safety.uncommitted = self.uncommitted(path, Submodules::Counted)?;
        }
        if let Some(head) = head {
            let which = [head, "--not", "--branches", "--tags", "--remotes"];
            safety.unreachable = self.commits(repository, &which)?;
        }
        Ok(safety)
    }

    /// Removes the working tree if that loses nothing. May be repeated.
    pub fn remove_if_safe(&self, repository: &Path, path: &Path) -> Result<Removal, GitError> {
        let lock = self.lock(repository)?;
        let trees = self.worktree_list(repository)?;
        let place = place_of(path);
        let tree = match trees.iter().position(|tree| tree.path == place) {
            Some(0) => return Ok(Removal::Kept(KeepReason::Main)),
            Some(index) => &trees[index],
            None if place.symlink_metadata().is_err() => return Ok(Removal::Removed),
            None => return Ok(Removal::Kept(KeepReason::Foreign)),
        };
        if let Some(reason) = self.reason_to_keep(repository, tree, &trees)? {
            return Ok(Removal::Kept(reason));
        }
        // Git looks once more before it deletes; what came into being after our own look is kept by that.
        match self.remove_locked(&lock, repository, &place) {
            Ok(()) => Ok(Removal::Removed),
            Err(GitError::Failed { stderr, .. }) => Ok(Removal::Kept(KeepReason::Refused(stderr))),
            Err(error) => Err(error),
        }
    }

    fn reason_to_keep(
        &self,
        repository: &Path,
        tree: &Worktree,
        all: &[Worktree],
    ) -> Result<Option<KeepReason>, GitError> {
        if let Some(reason) = &tree.locked {
            return Ok(Some(KeepReason::Locked(reason.clone())));
        }
        let inside = |other: &&Worktree| other.path != tree.path && other.path.starts_with(&tree.path);
        if let Some(other) = all.iter().find(inside) {
            return Ok(Some(KeepReason::Holds(other.path.clone())));
        }
        // Without its link, git would look at whatever repository is above and call that clean.
        if tree.path.exists() && self.toplevel(&tree.path)?.as_deref() != Some(&tree.path) {
            return Ok(Some(KeepReason::Damaged));
        }
        let safety = self.safety(repository, &tree.path, tree.head.as_deref())?;
        Ok((!safety.is_safe()).then_some(KeepReason::Unsaved(safety)))
    }
}

/// The path as git has it in its books: without links, also when the last part does not exist any more.
pub(super) fn place_of(path: &Path) -> PathBuf {
    let above = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let resolved = || Some(above.canonicalize().ok()?.join(path.file_name().unwrap_or(OsStr::new(""))));
    path.canonicalize().ok().or_else(resolved).unwrap_or_else(|| path.to_owned())
}
