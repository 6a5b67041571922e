//! A workspace on another file system than the user's repository borrows objects from it.
//!
//! Invariant: everything that is borrowed is kept by a ref of the task, named after the object, until the workspace is
//! gone. The user may delete or rewrite any branch and prune meanwhile.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::super::{Git, GitError, within};
use super::archive::archive_in;
use super::collect::AT_ONCE;
use super::{Workspace, owned_namespace};

impl Workspace {
    /// Keeps what the workspace will borrow of the user's refs as they are now, if it borrows at all.
    pub(super) fn pin_borrowed(&self, repository: &Path) -> Result<(), GitError> {
        if !self.borrows() {
            return Ok(());
        }
        self.git.pin_borrowed(repository, &self.record.owner)
    }

    fn borrows(&self) -> bool {
        let places = [archive_in(&self.admin()), self.git_dir()];
        places.iter().any(|place| place.join("objects/info/alternates").is_file())
    }

    /// Copies everything that is borrowed, as far as that is possible. Nothing keeps it from now on.
    pub(super) fn stop_borrowing(&self) {
        for place in [self.git_dir(), archive_in(&self.admin())] {
            let alternates = place.join("objects/info/alternates");
            if !alternates.is_file() {
                continue;
            }
            let copied = self.git.bound_to(&place, None).and_then(|git| git.succeed(&["repack", "-a", "-d", "-q"]));
            match copied {
                Ok(_) => drop(fs::remove_file(alternates)),
                Err(error) => tracing::warn!(%error, place = %place.display(), "borrowed objects were not copied"),
            }
        }
    }
}

impl Git {
    /// Gives every object that a branch, a tag, a note or the base of the task leads to a ref of the task.
    pub(super) fn pin_borrowed(&self, repository: &Path, owner: &str) -> Result<(), GitError> {
        let git = self.locked(repository)?;
        git.remove_owned_locks(repository, owner)?;
        let (own, common) = (owned_namespace(owner), git.common_directory(repository)?);
        let base = format!("{own}/base");
        let words = ["for-each-ref", "--format=%(objectname)", "--end-of-options"];
        let kinds = ["refs/heads", "refs/tags", "refs/remotes", "refs/notes", &base];
        let listed = git.succeed(&within(repository, &[&words[..], &kinds].concat()))?;
        let prefix = format!("{own}/borrowed/");
        let pinned: BTreeSet<String> = git.references(repository, &[&prefix])?.into_iter().map(|(_, at)| at).collect();
        let text = String::from_utf8_lossy(&listed);
        let wanted: BTreeSet<&str> = text.lines().filter(|object| !pinned.contains(*object)).collect();
        let refspecs: Vec<String> = wanted.iter().map(|object| format!("+{object}:{prefix}{object}")).collect();
        for part in refspecs.chunks(AT_ONCE) {
            git.fetch_refs_into(repository, &common, part)?;
        }
        Ok(())
    }
}
