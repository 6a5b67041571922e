//! Working trees beside the main one, each on a branch of its own.
//!
//! Invariant: they are removed one at a time in each repository.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::lock::RepositoryLock;
use super::{Git, GitError, path_of, within};

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
    /// Removes a working tree in which everything is committed; its branch stays.
    pub(super) fn remove_locked(&self, _lock: &RepositoryLock, repository: &Path, path: &Path) -> Result<(), GitError> {
        // A user whose git does not show new files would lose them here.
        let all = ["-c", "status.showUntrackedFiles=all"].map(OsStr::new);
        let mut args: Vec<&OsStr> = all.into_iter().chain(within(repository, &["worktree", "remove"])).collect();
        args.extend([OsStr::new("--"), path.as_os_str()]);
        self.succeed(&args).map(drop)
    }

    /// All working trees of the repository, the main one first.
    pub fn worktree_list(&self, repository: &Path) -> Result<Vec<Worktree>, GitError> {
        Ok(parse_list(&self.succeed(&within(repository, &["worktree", "list", "--porcelain", "-z"]))?))
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
