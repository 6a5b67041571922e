//! The user's own git, run so that it can neither ask, nor page, nor hang.
//!
//! Invariant: every call ends by its deadline, with all that git started, and acts on the directory it was given
//! whatever repository the environment points to.

mod changes;
mod diff;
#[cfg(test)]
mod tests;
mod worktree;

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::bounded::{self, Finished, RunError};
pub use changes::{ChangedLines, FileDiff, StatusEntry};
pub use worktree::UnsavedWork;

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
        let staged = within(directory, &["diff", "--cached", "--quiet", "--no-ext-diff"]);
        match self.succeed(&staged) {
            Ok(_) => return Ok(None),
            Err(GitError::Failed { code: Some(1), .. }) => {}
            Err(error) => return Err(error),
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
        let shown = || {
            let words = args.iter().map(|arg| arg.as_ref().to_string_lossy());
            std::iter::once("git".into()).chain(words).collect::<Vec<_>>().join(" ")
        };
        match bounded::run(&mut self.command(args), self.deadline) {
            Ok(Finished { status, stdout, .. }) if status.success() => Ok(stdout),
            Ok(Finished { status, stderr, .. }) => {
                let stderr = String::from_utf8_lossy(&stderr).trim().to_owned();
                Err(GitError::Failed { command: shown(), code: status.code(), stderr })
            }
            Err(RunError::Start(error)) if error.kind() == io::ErrorKind::NotFound => Err(GitError::Missing),
            Err(RunError::Start(source) | RunError::Wait(source)) => Err(GitError::Run { command: shown(), source }),
            Err(RunError::Deadline { deadline, .. }) => Err(GitError::Deadline { command: shown(), deadline }),
        }
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

fn outside_a_working_tree(stderr: &str) -> bool {
    stderr.contains("not a git repository") || stderr.contains("must be run in a work tree")
}
