//! What the commits of a repository hold, read without a checkout.

use super::super::MOST_BYTES;
use shuntyard_host::git::{Git, GitError};
use std::{collections::HashSet, ffi::OsStr, path::Path};

/// The text of a file in a commit; nothing when it is not there, no plain file, or larger than a person reads.
pub(super) fn text_at(repository: &Path, commit: &str, path: &str) -> Result<Option<String>, GitError> {
    let file = Git::default().file_at(repository, commit, path, MOST_BYTES)?;
    Ok(file.filter(|file| file.mode.starts_with("100")).and_then(|file| String::from_utf8(file.bytes).ok()))
}

/// Whether anything is there, whatever it is.
pub(super) fn is_at(repository: &Path, commit: &str, path: &str) -> Result<bool, GitError> {
    let words = ["ls-tree", "-z", "--name-only", "--full-tree", "--end-of-options", commit, "--", path];
    Ok(!run(repository, &words)?.is_empty())
}

/// The commit before `at` that brought a file.
pub(super) fn brought_by(repository: &Path, at: &str, path: &str) -> Result<Option<String>, GitError> {
    let words = ["log", "-1", "--diff-filter=A", "--format=%H", "--end-of-options", at, "--", path];
    let found = String::from_utf8_lossy(&run(repository, &words)?).trim().to_owned();
    Ok(Some(found).filter(|commit| !commit.is_empty()))
}

/// Whether a path is the same in both commits.
pub(super) fn is_same(repository: &Path, one: &str, other: &str, path: &str) -> Result<bool, GitError> {
    let entry =
        |commit: &str| run(repository, &["ls-tree", "-z", "--full-tree", "--end-of-options", commit, "--", path]);
    Ok(entry(one)? == entry(other)?)
}

/// Whether git would leave a file out that is made there.
pub(super) fn is_ignored(directory: &Path, path: &str) -> Result<bool, GitError> {
    match run(directory, &["check-ignore", "--quiet", "--", path]) {
        Ok(_) => Ok(true),
        Err(GitError::Failed { code: Some(1), .. }) => Ok(false),
        Err(error) => Err(error),
    }
}

/// What differs between two commits, as paths from the top.
pub(super) fn changed(repository: &Path, from: &str, to: &str) -> Result<Vec<String>, GitError> {
    let paths = Git::default().changed_between(repository, from, to)?;
    Ok(paths.iter().map(|path| path.display().to_string()).collect())
}

/// The branches of tasks that are there.
pub(super) fn task_branches(repository: &Path) -> Result<HashSet<String>, GitError> {
    let listed = run(repository, &["for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/shuntyard"])?;
    Ok(String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect())
}

fn run<S: AsRef<OsStr>>(directory: &Path, args: &[S]) -> Result<Vec<u8>, GitError> {
    Git::default().output(directory, args)
}
