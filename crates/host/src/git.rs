//! The user's own git, run so that it can neither ask, nor page, nor hang.
//!
//! Invariant: every call ends when it makes no progress any more, with all that git started, and acts on the directory
//! it was given whatever repository the environment points to, or on the one that it is bound to. What is held of its
//! output is bounded.

mod bound;
mod branches;
mod changes;
mod checkout;
mod checkout_lock;
mod checkout_undo;
mod checkout_update;
mod deletion;
mod delivery;
mod diff;
mod environment;
mod excerpt;
mod file_at;
mod footprint;
mod former_name;
mod forward;
mod github;
mod held;
mod hold;
mod journal;
mod lines;
mod lock;
mod merge;
mod obstacles;
mod operation;
mod own_repository;
mod rebase;
mod recovery;
mod reference_move;
mod references;
mod remote;
mod removal;
mod run;
mod scan;
#[cfg(test)]
mod tests;
mod tree_change;
mod workspace;
mod worktree;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

pub use bound::Bound;
pub use branches::{Base, Step};
pub use changes::{ChangedLines, FileDiff, StatusEntry};
pub use delivery::MergeHold;
pub use environment::MISLEADING;
pub use file_at::FileAt;
pub use footprint::{FileTrace, Footprint, Listing, OnDisk};
pub use forward::FastForward;
pub use github::gh;
pub use hold::Hold;
pub use merge::Forecast;
pub use operation::Operation;
pub use rebase::Rebased;
pub use recovery::{Recovered, Recovery};
pub use references::{BranchDeletion, Expected, UpdateRefError};
pub use remote::{Fetched, Pushed};
pub use removal::{KeepReason, Removal, Safety};
use run::{failed, shown};
pub use scan::DiffLine;
pub use workspace::{
    Collected, Hooks, LinkedWorktree, Objects, Order, Published, Purpose, Restarted, Source, TakenOver, Uncommitted,
    Unsaved, Workspace, owned_namespace,
};
pub use worktree::Worktree;

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("find git on the PATH: install git and try again")]
    Missing,
    #[error("run `{command}`")]
    Run { command: String, source: io::Error },
    /// Git, and all that it started, made no progress for that long.
    #[error("finish `{command}`: it made no progress for {} s", deadline.as_secs_f32())]
    Deadline { command: String, deadline: Duration },
    /// It was at work all the time, and came to no end.
    #[error("finish `{command}` within {} s", limit.as_secs_f32())]
    Endless { command: String, limit: Duration },
    #[error("read what `{command}` prints: it is more than {limit} bytes")]
    TooLarge { command: String, limit: usize },
    /// `code` is absent when a signal ended git.
    #[error("run `{command}` (exit code {}): {stderr}", code.map_or("none".to_owned(), |code| code.to_string()))]
    Failed { command: String, code: Option<i32>, stderr: String },
    /// Another process of ours is at work in the repository, or the lock cannot be had at all.
    #[error("lock {}", path.display())]
    Lock { path: PathBuf, source: io::Error },
    /// Git ended with 0, and what it should have done is not there.
    #[error("see that {wanted} after `{command}`")]
    Unproven { command: &'static str, wanted: String },
    /// What is there is not the repository that this git is bound to, so git was not run.
    #[error("use {} as a repository: {why}", path.display())]
    NotThatRepository { path: PathBuf, why: &'static str },
}

/// Who a commit is by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    pub email: String,
}

#[derive(Debug, Clone)]
pub struct Git {
    pub program: PathBuf,
    /// A call that makes no progress for this long is ended. A filter for a single file may wait for minutes.
    pub idle_deadline: Duration,
    /// The same for a call that waits for another machine.
    pub network_deadline: Duration,
    /// Set on top of the inherited environment.
    pub variables: Vec<(OsString, OsString)>,
    /// Settings that hold over those of files and of the inherited environment.
    pub settings: Vec<(String, String)>,
    /// The only repository that it may act on; without one, the repository that each directory is in.
    pub bound: Option<Bound>,
    /// The lock that every call hands to git.
    pub hold: Option<Hold>,
}

impl Default for Git {
    fn default() -> Self {
        Self {
            program: PathBuf::from("git"),
            idle_deadline: Duration::from_secs(10 * 60),
            network_deadline: Duration::from_secs(2 * 60),
            variables: Vec::new(),
            settings: Vec::new(),
            bound: None,
            hold: None,
        }
    }
}

impl Git {
    /// As git words it, such as `2.47.3`.
    pub fn version(&self) -> Result<String, GitError> {
        let text = self.line(&["--version"])?;
        Ok(text.strip_prefix("git version ").unwrap_or(&text).to_owned())
    }

    /// Makes the directory a repository; harmless when it is one.
    pub fn init(&self, directory: &Path) -> Result<(), GitError> {
        self.succeed(&[OsStr::new("init"), OsStr::new("--quiet"), OsStr::new("--"), directory.as_os_str()]).map(drop)
    }

    /// The top of the working tree that the directory is in; `None` when it is in none.
    pub fn toplevel(&self, directory: &Path) -> Result<Option<PathBuf>, GitError> {
        match self.succeed(&within(directory, &["rev-parse", "--show-toplevel"])) {
            Ok(mut output) => {
                output.truncate(output.trim_ascii_end().len());
                Ok(Some(PathBuf::from(OsString::from_vec(output))))
            }
            Err(GitError::Failed { stderr, .. }) if outside_a_working_tree(&stderr) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The commit that is checked out; `None` before the first one.
    pub fn head(&self, directory: &Path) -> Result<Option<String>, GitError> {
        match self.line(&within(directory, &["rev-parse", "--verify", "--quiet", "HEAD"])) {
            Ok(commit) => Ok(Some(commit)),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Commits everything that is not ignored, new and deleted files too; `None` when there is nothing to commit.
    /// The commit is not signed: signing asks for a passphrase, and no person is there to answer.
    pub fn commit_all(&self, directory: &Path, message: &str, author: &Author) -> Result<Option<String>, GitError> {
        self.succeed(&within(directory, &["add", "--all"]))?;
        if self.answer(&within(directory, &["diff", "--cached", "--quiet", "--no-ext-diff"]))? {
            return Ok(None);
        }
        let mut signed = self.clone();
        for role in ["AUTHOR", "COMMITTER"] {
            signed.variables.push((format!("GIT_{role}_NAME").into(), author.name.clone().into()));
            signed.variables.push((format!("GIT_{role}_EMAIL").into(), author.email.clone().into()));
        }
        signed.succeed(&within(directory, &["commit", "--quiet", "--no-gpg-sign", "-m", message]))?;
        self.head(directory)
    }
}

fn within<'a>(directory: &'a Path, args: &[&'a str]) -> Vec<&'a OsStr> {
    let head = [OsStr::new("-C"), directory.as_os_str()];
    head.into_iter().chain(args.iter().map(|arg| OsStr::new(*arg))).collect()
}

/// As [`within`], and no program that a repository's settings name is run for it.
fn alone<'a>(directory: &'a Path, args: &[&'a str]) -> Vec<&'a OsStr> {
    let quiet = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"].map(OsStr::new);
    quiet.into_iter().chain(within(directory, args)).collect()
}

/// The records of an answer in which a zero byte ends each of them.
fn records(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|record| !record.is_empty())
}

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

fn outside_a_working_tree(stderr: &str) -> bool {
    stderr.contains("not a git repository") || stderr.contains("must be run in a work tree")
}
