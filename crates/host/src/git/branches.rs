//! Branches and the commits behind them: questions only, nothing here changes a repository.
//!
//! Invariant: a name is looked up as exactly that branch, never as a tag or an expression that reads the same.

use std::path::{Path, PathBuf};

use super::{Git, GitError, alone, path_of, records, within};

/// What work begins from when nobody said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    Branch(String),
    /// Nothing but a commit is checked out.
    Commit(String),
}

impl Base {
    /// The branch's name or the commit's.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Branch(name) | Self::Commit(name) => name,
        }
    }
}

impl Git {
    /// The commit that a local branch is at; `None` when there is no such branch.
    pub fn branch_commit(&self, repository: &Path, name: &str) -> Result<Option<String>, GitError> {
        self.reference_commit(repository, &format!("refs/heads/{name}"))
    }

    /// What a reference with this full name holds.
    pub(super) fn reference_commit(&self, repository: &Path, full_name: &str) -> Result<Option<String>, GitError> {
        let format = "--format=%(objectname) %(refname)";
        let output = self.succeed(&within(repository, &["for-each-ref", format, "--end-of-options", full_name]))?;
        // A name is also a pattern here, so the answer can hold others.
        let lines = String::from_utf8_lossy(&output).into_owned();
        let found = lines.lines().filter_map(|line| line.split_once(' ')).find(|(_, name)| *name == full_name);
        Ok(found.map(|(commit, _)| commit.to_owned()))
    }

    /// The branch that is checked out, also before its first commit; `None` when only a commit is.
    pub fn current_branch(&self, directory: &Path) -> Result<Option<String>, GitError> {
        match self.line(&within(directory, &["symbolic-ref", "--quiet", "HEAD"])) {
            Ok(reference) => Ok(reference.strip_prefix("refs/heads/").map(str::to_owned)),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The branch that is checked out, or else the commit.
    pub fn default_base(&self, repository: &Path) -> Result<Base, GitError> {
        match self.current_branch(repository)? {
            Some(branch) => Ok(Base::Branch(branch)),
            None => self.commit_of(repository, "HEAD").map(Base::Commit),
        }
    }

    /// Whether `ancestor` is part of the history of `commit`; each is part of its own.
    pub fn is_ancestor(&self, repository: &Path, ancestor: &str, commit: &str) -> Result<bool, GitError> {
        self.answer(&within(repository, &["merge-base", "--is-ancestor", "--end-of-options", ancestor, commit]))
    }

    /// Where two histories parted; `None` when they have nothing in common.
    pub fn merge_base(&self, repository: &Path, one: &str, other: &str) -> Result<Option<String>, GitError> {
        match self.line(&within(repository, &["merge-base", "--end-of-options", one, other])) {
            Ok(commit) => Ok(Some(commit)),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What `head` has and `base` has not, the oldest first.
    pub fn commits_between(&self, repository: &Path, base: &str, head: &str) -> Result<Vec<String>, GitError> {
        let range = format!("{base}..{head}");
        self.commits(repository, &["--reverse", "--topo-order", "--end-of-options", &range, "--"])
    }

    pub(super) fn commits(&self, repository: &Path, which: &[&str]) -> Result<Vec<String>, GitError> {
        let words: Vec<&str> = std::iter::once("rev-list").chain(which.iter().copied()).collect();
        let output = self.succeed(&within(repository, &words))?;
        Ok(String::from_utf8_lossy(&output).lines().map(str::to_owned).collect())
    }

    /// The name of a commit's content: two commits with the same one hold the same files.
    pub fn tree_of(&self, repository: &Path, commit: &str) -> Result<String, GitError> {
        let tree = format!("{commit}^{{tree}}");
        self.line(&within(repository, &["rev-parse", "--verify", "--end-of-options", &tree]))
    }

    /// Paths, relative to the top, that are not the same in two commits. A renamed file counts with both its names.
    pub fn changed_between(&self, repository: &Path, from: &str, to: &str) -> Result<Vec<PathBuf>, GitError> {
        self.changed(repository, "--diff-filter=ACDMRTUXB", from, to)
    }

    /// Paths that only the later commit has.
    pub(super) fn added_between(&self, repository: &Path, from: &str, to: &str) -> Result<Vec<PathBuf>, GitError> {
        self.changed(repository, "--diff-filter=A", from, to)
    }

    fn changed(&self, repository: &Path, filter: &str, from: &str, to: &str) -> Result<Vec<PathBuf>, GitError> {
        let plain = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-relative", filter];
        let words: Vec<&str> = plain.into_iter().chain(["--end-of-options", from, to, "--"]).collect();
        Ok(records(&self.succeed(&alone(repository, &words))?).map(path_of).collect())
    }

    /// Whether everything is committed or ignored.
    pub fn is_clean(&self, directory: &Path) -> Result<bool, GitError> {
        Ok(self.status_porcelain(directory)?.is_empty())
    }
}
