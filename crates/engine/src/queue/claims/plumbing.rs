//! One file of one commit, written as a new commit beside everything that is checked out.
//!
//! Invariant: no working tree, no index and no reference of the user's is touched, and the bytes of the file are those
//! that were given: no filter, no hook and no signature comes in between.

use shuntyard_host::git::{Author, FileAt, Git, GitError};
use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
};

/// A commit that differs from its parent in one file.
#[derive(Debug)]
pub(super) struct Draft<'a> {
    pub(super) parent: &'a str,
    pub(super) path: &'a str,
    pub(super) file: &'a FileAt,
    pub(super) message: &'a str,
    pub(super) author: &'a Author,
    /// A directory that no other process uses meanwhile.
    pub(super) scratch: &'a Path,
}

/// Makes the commit. Nothing refers to it yet; one that is never used is swept up by git some day.
pub(super) fn commit(git: &Git, repository: &Path, draft: &Draft<'_>) -> Result<String, GitError> {
    let content = draft.scratch.join("content");
    std::fs::write(&content, &draft.file.bytes).map_err(|source| unwritten(&content, source))?;
    let mut hashing = words(&["hash-object", "-w", "--no-filters", "--"]);
    hashing.push(content.into_os_string());
    let object = line(git.output(repository, &hashing)?);
    let mut beside = git.clone();
    beside.variables.push(("GIT_INDEX_FILE".into(), draft.scratch.join("index").into_os_string()));
    for (role, value) in [("NAME", &draft.author.name), ("EMAIL", &draft.author.email)] {
        beside.variables.push((format!("GIT_AUTHOR_{role}").into(), value.into()));
        beside.variables.push((format!("GIT_COMMITTER_{role}").into(), value.into()));
    }
    // A split index would leave a part of itself in the repository.
    let whole = ["-c", "core.splitIndex=false"];
    beside.output(repository, &[&whole[..], &["read-tree", "--end-of-options", draft.parent]].concat())?;
    let entry = format!("{},{object},{}", draft.file.mode, draft.path);
    beside.output(repository, &[&whole[..], &["update-index", "--add", "--cacheinfo", &entry]].concat())?;
    let tree = line(beside.output(repository, &["write-tree"])?);
    let commit = ["commit-tree", "--no-gpg-sign", "-p", draft.parent, "-m", draft.message, &tree];
    Ok(line(beside.output(repository, &commit)?))
}

/// The remote's own branch, as git recorded it when the repository was cloned.
pub(super) fn remote_head(git: &Git, repository: &Path, remote: &str) -> Result<Option<String>, GitError> {
    let name = format!("refs/remotes/{remote}/HEAD");
    match git.output(repository, &["symbolic-ref", "--quiet", &name]) {
        Ok(output) => Ok(line(output).strip_prefix(&format!("refs/remotes/{remote}/")).map(str::to_owned)),
        Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
        Err(error) => Err(error),
    }
}

/// The directory that all working trees of a repository share.
pub(super) fn common_directory(git: &Git, repository: &Path) -> Result<PathBuf, GitError> {
    git.output(repository, &["rev-parse", "--path-format=absolute", "--git-common-dir"]).map(|path| line(path).into())
}

fn line(output: Vec<u8>) -> String {
    String::from_utf8_lossy(&output).trim().to_owned()
}

fn words(words: &[&str]) -> Vec<OsString> {
    words.iter().map(OsString::from).collect()
}

fn unwritten(path: &Path, source: io::Error) -> GitError {
    GitError::Run { command: format!("write {}", path.display()), source }
}
