//! Branches and the commits behind them: questions only, nothing here changes a repository.
//!
//! Invariant: a name is looked up as exactly that branch, never as a tag or an expression that reads the same.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Git, GitError, alone, path_of, records, within};

/// Files in one command line.
const PATHSPECS: usize = 100;

/// What work begins from by default.
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

/// How one commit comes after another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    pub trees: [String; 2],
    /// The second has the first as its only parent.
    pub is_direct: bool,
}

impl Git {
    /// The commit that a local branch is at; `None` when there is no such branch.
    pub fn branch_commit(&self, repository: &Path, name: &str) -> Result<Option<String>, GitError> {
        self.reference_commit(repository, &format!("refs/heads/{name}"))
    }

    /// The commit of a base: a branch of that name, or else whatever git takes the name for.
    pub fn base_commit(&self, repository: &Path, name: &str) -> Result<String, GitError> {
        match self.branch_commit(repository, name)? {
            Some(commit) => Ok(commit),
            None => self.commit_of(repository, name),
        }
    }

    /// Whether the repository has this commit, by its full name.
    pub fn has_commit(&self, repository: &Path, commit: &str) -> Result<bool, GitError> {
        match self.succeed(&within(repository, &["cat-file", "-e", &format!("{commit}^{{commit}}")])) {
            Ok(_) => Ok(true),
            Err(GitError::Failed { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// What a reference with this full name holds.
    pub fn reference_commit(&self, repository: &Path, full_name: &str) -> Result<Option<String>, GitError> {
        self.reference_as(repository, full_name, "%(objectname)")
    }

    /// The same, and whether the working tree at `top` is on this branch.
    pub(super) fn reference_at(&self, top: &Path, full_name: &str) -> Result<(Option<String>, bool), GitError> {
        let found = self.reference_as(top, full_name, "%(objectname) %(HEAD)")?;
        let is_head =
            full_name.starts_with("refs/heads/") && found.as_deref().is_some_and(|found| found.ends_with('*'));
        Ok((found.and_then(|found| found.split(' ').next().map(str::to_owned)), is_head))
    }

    /// What git shows of a reference with this full name.
    pub(super) fn reference_as(&self, top: &Path, full_name: &str, shown: &str) -> Result<Option<String>, GitError> {
        let format = format!("--format=%(refname) {shown}");
        let output = self.succeed(&within(top, &["for-each-ref", &format, "--end-of-options", full_name]))?;
        // A name is also a pattern here, so the answer can hold others.
        let lines = String::from_utf8_lossy(&output).into_owned();
        let found = lines.lines().filter_map(|line| line.split_once(' ')).find(|(name, _)| *name == full_name);
        Ok(found.map(|(_, shown)| shown.to_owned()))
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

    /// The newest commits that `head` has and `base` has not, of those that change one of these files.
    pub fn commits_touching(
        &self,
        repository: &Path,
        base: &str,
        head: &str,
        files: &[PathBuf],
        most: u32,
    ) -> Result<Vec<String>, GitError> {
        let (range, count) = (format!("{base}..{head}"), format!("--max-count={most}"));
        let names: Vec<OsString> = files
            .iter()
            .take(PATHSPECS)
            .map(|file| [OsStr::new(":(top,literal)"), file.as_os_str()].into_iter().collect())
            .collect();
        let mut args = within(repository, &["rev-list", &count, "--end-of-options", &range, "--"]);
        args.extend(names.iter().map(OsString::as_os_str));
        let output = self.succeed(&args)?;
        Ok(String::from_utf8_lossy(&output).lines().map(str::to_owned).collect())
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

    /// The trees of two commits, and whether the second was made directly on the first.
    pub fn step_between(&self, repository: &Path, from: &str, to: &str) -> Result<Step, GitError> {
        let names = [format!("{from}^{{tree}}"), format!("{to}^{{tree}}"), format!("{to}^@")];
        let words: Vec<&str> = std::iter::once("rev-parse").chain(names.iter().map(String::as_str)).collect();
        let shown = self.line(&within(repository, &words))?;
        let shown: Vec<&str> = shown.lines().collect();
        let [before, after, parents @ ..] = shown.as_slice() else {
            return Err(GitError::Unproven { command: "git rev-parse", wanted: format!("{from} and {to} have trees") });
        };
        Ok(Step { trees: [before, after].map(|tree| (*tree).to_owned()), is_direct: *parents == [from] })
    }

    /// Paths, relative to the top, that are not the same in two commits. A renamed file counts with both its names.
    pub fn changed_between(&self, repository: &Path, from: &str, to: &str) -> Result<Vec<PathBuf>, GitError> {
        let plain = ["diff-tree", "-r", "-z", "--name-only", "--no-renames", "--no-ext-diff", "--no-relative"];
        let words: Vec<&str> = plain.into_iter().chain(["--end-of-options", from, to, "--"]).collect();
        Ok(records(&self.succeed(&alone(repository, &words))?).map(path_of).collect())
    }
}
