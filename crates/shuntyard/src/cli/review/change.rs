//! What is reviewed: the working tree against a commit, or what lies between two commits.

use crate::failure::Failure;
use shuntyard_engine::fanout::review::MOST_DIFF;
use shuntyard_host::git::{Git, GitError};
use std::path::{Path, PathBuf};

/// Bytes of the change that are read: a character takes up to four, and one more than is shown reveals that it was cut.
const READ: usize = 4 * (MOST_DIFF + 1);

/// Whether it only has to be read, or changed as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Read,
    Mend,
}

#[derive(Debug)]
pub struct Change {
    git: Git,
    pub top: PathBuf,
    what: What,
}

#[derive(Debug)]
enum What {
    /// Between two commits, as `git diff` has it.
    Range(String),
    /// The working tree against a commit.
    Since(String),
}

impl Change {
    pub fn find(range: Option<&str>, purpose: Purpose, directory: &Path) -> Result<Self, Failure> {
        let git = Git::default();
        let top = git.toplevel(directory).map_err(unknown)?;
        let top = top.ok_or_else(|| {
            Failure::usage(format!("{} is in no git repository", directory.display()), "name one with --dir")
        })?;
        let what = match range {
            Some(range) if range.contains("..") => match purpose {
                Purpose::Read => What::Range(range.to_owned()),
                Purpose::Mend => What::Since(beginning(&git, &top, range)?),
            },
            Some(name) => What::Since(git.commit_of(&top, name).map_err(|_| no_commit(name))?),
            // In a repository without a commit everything is new.
            None => What::Since(git.commit_of(&top, "HEAD").or_else(|_| git.empty_tree(&top)).map_err(unknown)?),
        };
        Ok(Self { git, top, what })
    }

    /// The present change, as far as reviewers read it.
    pub fn diff(&self) -> Result<String, Failure> {
        let from = match &self.what {
            What::Range(range) => return self.git.diff_start(&self.top, range, READ).map_err(unknown),
            What::Since(from) => from,
        };
        let scratch = tempfile::tempdir().map_err(|error| {
            Failure::unavailable("host", format!("no scratch directory could be made: {error}"), "look at TMPDIR")
        })?;
        self.git.diff_start_of_all(&self.top, from, &scratch.path().join("index"), READ).map_err(unknown)
    }
}

/// The start of a range whose end is checked out: from there on the working tree can be fixed. What is not committed
/// yet is part of it then.
fn beginning(git: &Git, top: &Path, range: &str) -> Result<String, Failure> {
    let (left, right, symmetric) = match range.split_once("...") {
        Some((left, right)) => (left, right, true),
        None => {
            let (left, right) = range.split_once("..").unwrap_or((range, ""));
            (left, right, false)
        }
    };
    let commit = |name: &str| {
        let name = if name.is_empty() { "HEAD" } else { name };
        git.commit_of(top, name).map_err(|_| no_commit(name))
    };
    let (left, right) = (commit(left)?, commit(right)?);
    if right != commit("HEAD")? {
        return Err(Failure::usage(
            "only what is checked out can be fixed, and the end of this range is not",
            "check it out, or give a commit to compare the working tree with, for example `review main --loop`",
        ));
    }
    if !symmetric {
        return Ok(left);
    }
    let base = git.merge_base(top, &left, &right).map_err(unknown)?;
    base.ok_or_else(|| Failure::usage("the two ends of the range have nothing in common", "give another range"))
}

fn unknown(error: GitError) -> Failure {
    Failure::usage(error, "give a range that git knows")
}

fn no_commit(name: &str) -> Failure {
    Failure::usage(format!("git knows no commit `{name}` here"), "give a range or a commit that it knows")
}
