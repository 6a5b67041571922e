//! The checkouts of a repository: the main working tree and the linked ones, with the git directory of each.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::journal::Administration;
use super::{Git, GitError, Worktree, path_of};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Checkout {
    pub top: PathBuf,
    pub place: Administration,
}

impl Checkout {
    /// Every checkout that is on the disk, found without git. The main one of a bare repository has no files and is
    /// never in the middle of anything.
    pub(super) fn all(common: &Path) -> Vec<Self> {
        let inside = common.file_name().is_some_and(|name| name == ".git");
        let main_top = common.parent().filter(|_| inside).unwrap_or(common).to_owned();
        let main = Self { top: main_top, place: Administration { directory: common.to_owned() } };
        let linked = fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten();
        std::iter::once(main).chain(linked.filter_map(|entry| Self::linked(entry.path()))).collect()
    }

    fn linked(directory: PathBuf) -> Option<Self> {
        let noted = fs::read(directory.join("gitdir")).ok()?;
        let link = directory.join(path_of(noted.strip_suffix(b"\n").unwrap_or(&noted)));
        let top = link.parent().filter(|_| link.exists())?;
        // Git can note it relative to its own directory.
        let top = fs::canonicalize(top).unwrap_or_else(|_| top.to_owned());
        Some(Self { top, place: Administration { directory } })
    }

    /// Whether both have the same git directory, whatever links their paths go through.
    pub(super) fn is(&self, other: &Self) -> bool {
        same(&self.place.directory, &other.place.directory)
    }

    /// An error of the file system while this checkout was changed.
    pub(super) fn failed(&self) -> impl Fn(io::Error) -> GitError + use<> {
        failed_at(&self.top)
    }
}

/// An error of the file system while the checkout at this path was changed.
pub(super) fn failed_at(path: &Path) -> impl Fn(io::Error) -> GitError + use<> {
    let command = format!("update of the checkout at {}", path.display());
    move |source| GitError::Run { command: command.clone(), source }
}

impl Git {
    /// The checkout behind an entry of git's list.
    pub(super) fn checkout_of(&self, repository: &Path, tree: &Worktree) -> Result<Checkout, GitError> {
        let listed = self.checkout_at(&tree.path)?;
        // Where the git directory is apart from its working tree, git lists the former.
        let apart = if listed.is_none() { self.checkout_at(repository)? } else { None };
        listed.or(apart.filter(|found| same(&found.place.directory, &tree.path))).ok_or_else(|| GitError::Unproven {
            command: "git worktree list",
            wanted: format!("there is a working tree for {}", tree.path.display()),
        })
    }

    fn checkout_at(&self, path: &Path) -> Result<Option<Checkout>, GitError> {
        let Some(found) = self.toplevel(path)? else { return Ok(None) };
        let directory = self.own_directory(path)?;
        let top = if same(&found, path) { path.to_owned() } else { found };
        Ok(Some(Checkout { top, place: Administration { directory } }))
    }
}

fn same(one: &Path, other: &Path) -> bool {
    one == other
        || fs::canonicalize(one).ok().zip(fs::canonicalize(other).ok()).is_some_and(|(one, other)| one == other)
}
