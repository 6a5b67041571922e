//! Working trees beside the main one, each on a branch of its own.
//!
//! Invariant: adding and removing happen one at a time in each repository.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::lock::RepositoryLock;
use super::{Git, GitError, path_of, within};

/// What becomes of files in a working tree that were never committed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsavedWork {
    /// The removal is refused while there are any.
    Keep,
    Discard,
}

/// A working tree as git has it in its books; the main one is the first in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Worktree {
    pub path: PathBuf,
    /// Absent before the first commit, and for a repository without a working tree.
    pub head: Option<String>,
    /// Absent when only a commit is checked out.
    pub branch: Option<String>,
    /// Why git would forget it: mostly that its directory is gone.
    pub prunable: Option<String>,
    /// The reason that was given for locking it, which may be empty.
    pub locked: Option<String>,
}

impl Git {
    /// Checks out `base` at `path` on the new branch `branch`.
    pub fn worktree_add(&self, repository: &Path, path: &Path, branch: &str, base: &str) -> Result<(), GitError> {
        let _lock = self.lock(repository)?;
        let mut args = within(repository, &["worktree", "add", "--quiet", "-b", branch, "--"]);
        args.extend([path.as_os_str(), OsStr::new(base)]);
        self.succeed(&args).map(drop)
    }

    /// Checks out a branch that exists, and that no other working tree is on.
    pub fn worktree_add_existing(&self, repository: &Path, path: &Path, branch: &str) -> Result<(), GitError> {
        let _lock = self.lock(repository)?;
        // For a name that it does not know, git would look among the remotes and make a branch.
        let name = format!("refs/heads/{branch}");
        self.succeed(&within(repository, &["show-ref", "--verify", "--quiet", "--", &name]))?;
        let mut args = within(repository, &["worktree", "add", "--quiet", "--"]);
        args.extend([path.as_os_str(), OsStr::new(branch)]);
        self.succeed(&args).map(drop)
    }

    /// Removes the working tree; its branch stays.
    pub fn worktree_remove(&self, repository: &Path, path: &Path, unsaved: UnsavedWork) -> Result<(), GitError> {
        let lock = self.lock(repository)?;
        self.remove_locked(&lock, repository, path, unsaved)
    }

    pub(super) fn remove_locked(
        &self,
        _lock: &RepositoryLock,
        repository: &Path,
        path: &Path,
        unsaved: UnsavedWork,
    ) -> Result<(), GitError> {
        // Whoever asked git not to show new files would lose them here.
        let all = ["-c", "status.showUntrackedFiles=all"].map(OsStr::new);
        let mut args: Vec<&OsStr> = all.into_iter().chain(within(repository, &["worktree", "remove"])).collect();
        match unsaved {
            UnsavedWork::Keep => {}
            UnsavedWork::Discard => args.push(OsStr::new("--force")),
        }
        args.extend([OsStr::new("--"), path.as_os_str()]);
        self.succeed(&args).map(drop)
    }

    /// All working trees of the repository, the main one first.
    pub fn worktree_list(&self, repository: &Path) -> Result<Vec<Worktree>, GitError> {
        Ok(parse_list(&self.succeed(&within(repository, &["worktree", "list", "--porcelain", "-z"]))?))
    }

    /// Has git forget the working trees whose directories are gone. Their branches stay.
    pub fn worktree_prune(&self, repository: &Path) -> Result<(), GitError> {
        let _lock = self.lock(repository)?;
        self.succeed(&within(repository, &["worktree", "prune"])).map(drop)
    }
}

/// Each line ends with a zero byte, each working tree with an empty line.
fn parse_list(output: &[u8]) -> Vec<Worktree> {
    let mut trees: Vec<Worktree> = Vec::new();
    for line in output.split(|byte| *byte == 0) {
        let mut words = line.splitn(2, |byte| *byte == b' ');
        let (label, value) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let text = || String::from_utf8_lossy(value).into_owned();
        if label == b"worktree" {
            trees.push(Worktree { path: path_of(value), ..Worktree::default() });
        }
        let Some(tree) = trees.last_mut() else { continue };
        match label {
            b"HEAD" => tree.head = Some(text()).filter(|commit| commit.bytes().any(|digit| digit != b'0')),
            b"branch" => tree.branch = text().strip_prefix("refs/heads/").map(str::to_owned),
            b"prunable" => tree.prunable = Some(text()),
            b"locked" => tree.locked = Some(text()),
            _ => {}
        }
    }
    trees
}
