//! The user's own git, run so that it can neither ask, nor page, nor hang.
//!
//! Invariant: every call ends by its deadline, with all that git started, and acts on the directory it was given
//! whatever repository the environment points to.

mod branches;
mod changes;
mod delivery;
mod diff;
mod forward;
mod lock;
mod merge;
mod rebase;
mod references;
mod remote;
mod removal;
#[cfg(test)]
mod tests;
mod worktree;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::bounded::{self, Finished, RunError};
pub use branches::Base;
pub use changes::{ChangedLines, FileDiff, StatusEntry};
pub use delivery::MergeHold;
pub use forward::FastForward;
pub use merge::Forecast;
pub use rebase::Rebased;
pub use references::{BranchDeletion, Expected, UpdateRefError};
pub use remote::{Fetched, Pushed};
pub use removal::{KeepReason, Removal, Safety};
pub use worktree::{UnsavedWork, Worktree};

/// Variables by which a hook or a shell would point git at another repository than the directory's own.
const MISLEADING: [&str; 6] =
    ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY", "GIT_PREFIX"];

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("find git on the PATH: install git and try again")]
    Missing,
    #[error("run `{command}`")]
    Run { command: String, source: io::Error },
    #[error("finish `{command}` within {} s", deadline.as_secs_f32())]
    Deadline { command: String, deadline: Duration },
    /// `code` is absent when a signal ended git.
    #[error("run `{command}` (exit code {}): {stderr}", code.map_or("none".to_owned(), |code| code.to_string()))]
    Failed { command: String, code: Option<i32>, stderr: String },
    /// Another process of ours is at work in the repository, or the lock cannot be had at all.
    #[error("lock {}", path.display())]
    Lock { path: PathBuf, source: io::Error },
    /// Git ended with 0, and what it should have done is not there.
    #[error("see that {wanted} after `{command}`")]
    Unproven { command: &'static str, wanted: String },
}

/// Who a commit is by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Author {
    pub name: String,
    pub email: String,
}

#[derive(Debug, Clone)]
pub struct Git {
    pub program: PathBuf,
    /// For each single call.
    pub deadline: Duration,
    /// Set on top of the inherited environment.
    pub variables: Vec<(OsString, OsString)>,
}

impl Default for Git {
    fn default() -> Self {
        Self { program: PathBuf::from("git"), deadline: Duration::from_secs(60), variables: Vec::new() }
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
    /// The commit is not signed: signing asks for a passphrase, and nobody is there to answer.
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

    fn line<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<String, GitError> {
        Ok(String::from_utf8_lossy(&self.succeed(args)?).trim().to_owned())
    }

    /// What git printed, when it ended with 0.
    fn succeed<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Vec<u8>, GitError> {
        let finished = self.finish(args)?;
        if finished.status.success() { Ok(finished.stdout) } else { Err(failed(args, &finished)) }
    }

    /// What git answers by its exit code: true for 0, false for 1.
    fn answer<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<bool, GitError> {
        match self.succeed(args) {
            Ok(_) => Ok(true),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How git ended and what it printed, whatever its exit code.
    fn finish<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Finished, GitError> {
        bounded::run(&mut self.command(args), self.deadline).map_err(|error| match error {
            RunError::Start(error) if error.kind() == io::ErrorKind::NotFound => GitError::Missing,
            RunError::Start(source) | RunError::Wait(source) => GitError::Run { command: shown(args), source },
            RunError::Deadline { deadline, .. } => GitError::Deadline { command: shown(args), deadline },
        })
    }

    fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(&self.program);
        for name in MISLEADING {
            command.env_remove(name);
        }
        // The language is fixed because a few messages are recognised by their wording.
        command
            .envs([("GIT_TERMINAL_PROMPT", "0"), ("GIT_OPTIONAL_LOCKS", "0"), ("GIT_EDITOR", "true"), ("LC_ALL", "C")])
            .envs(self.variables.iter().map(|(name, value)| (name, value)))
            .arg("--no-pager")
            .args(args);
        command
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

fn shown<S: AsRef<OsStr>>(args: &[S]) -> String {
    let words = args.iter().map(|arg| arg.as_ref().to_string_lossy());
    std::iter::once("git".into()).chain(words).collect::<Vec<_>>().join(" ")
}

fn failed<S: AsRef<OsStr>>(args: &[S], finished: &Finished) -> GitError {
    let stderr = String::from_utf8_lossy(&finished.stderr).trim().to_owned();
    GitError::Failed { command: shown(args), code: finished.status.code(), stderr }
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
