//! A git that can act on one repository only.
//!
//! Invariant: it never searches for a repository. When the one that it is bound to is gone, or something else is in its
//! place, git is not run at all: a search would find the repository around it.

use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Git, GitError};

/// The repository, by its own directory, and the working tree that its files are in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bound {
    pub(super) git_dir: PathBuf,
    /// None for one that has no files, or whose files are not needed.
    work_tree: Option<PathBuf>,
}

impl Git {
    /// The same git, for this repository alone, whatever directory it is called in. Not for the working trees that
    /// were added to a repository: their references are elsewhere.
    pub fn bound_to(&self, git_dir: &Path, work_tree: Option<&Path>) -> Result<Self, GitError> {
        let bound = Bound { git_dir: whole_path(git_dir)?, work_tree: work_tree.map(whole_path).transpose()? };
        bound.check()?;
        Ok(Self { bound: Some(bound), ..self.clone() })
    }
}

impl Bound {
    /// Whether the repository is there and keeps everything in its own directory.
    pub(super) fn check(&self) -> Result<(), GitError> {
        let wrong = |path: &Path, why| Err(GitError::NotThatRepository { path: path.to_owned(), why });
        for path in std::iter::once(&self.git_dir).chain(&self.work_tree) {
            if !kind(path).is_some_and(|kind| kind.is_dir()) {
                return wrong(path, "it is no directory");
            }
        }
        for name in ["objects", "refs"] {
            if !kind(&self.git_dir.join(name)).is_some_and(|kind| kind.is_dir()) {
                return wrong(&self.git_dir, "it has no objects or references of its own");
            }
        }
        if !kind(&self.git_dir.join("HEAD")).is_some_and(|kind| kind.is_file()) {
            return wrong(&self.git_dir, "it has no HEAD");
        }
        match fs::symlink_metadata(self.git_dir.join("commondir")) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Ok(_) | Err(_) => wrong(&self.git_dir, "it refers to the references of another repository"),
        }
    }

    /// `ceilings` are the user's own.
    pub(super) fn apply(&self, command: &mut Command, ceilings: Option<&OsStr>) {
        command.env("GIT_DIR", &self.git_dir).env_remove("GIT_COMMON_DIR");
        match &self.work_tree {
            Some(tree) => command.env("GIT_WORK_TREE", tree),
            // Or else the directory that it is called in would be taken for it.
            None => command.env_remove("GIT_WORK_TREE").env("GIT_IMPLICIT_WORK_TREE", "0"),
        };
        // For what git starts: a hook or a filter may search again.
        let inside = self.work_tree.as_deref().unwrap_or(&self.git_dir);
        let own = inside.parent().unwrap_or(inside).as_os_str();
        let mut all = OsString::from(own);
        if let Some(ceilings) = ceilings.filter(|ceilings| !ceilings.is_empty()) {
            all.push(":");
            all.push(ceilings);
        }
        command.env("GIT_CEILING_DIRECTORIES", all);
    }
}

fn kind(path: &Path) -> Option<FileType> {
    fs::symlink_metadata(path).ok().map(|metadata| metadata.file_type())
}

/// Without a slash at its end, by which a link would be followed.
fn whole_path(path: &Path) -> Result<PathBuf, GitError> {
    let whole = std::path::absolute(path).map_err(|source| GitError::Run { command: "git".to_owned(), source })?;
    Ok(whole.components().collect())
}
