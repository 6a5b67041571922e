//! Undoing a checkout that did not come to its end.
//!
//! Invariant: what is deleted or overwritten is what the step itself can have written: the content of the new commit or
//! a beginning of it. Everything else on the disk is the user's. Undoing can be cut off anywhere and be repeated.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::checkout::Checkout;
use super::held::HeldCall;
use super::journal::Journal;
use super::lock::RepositoryLock;
use super::tree_change::TreeChange;
use super::{Git, GitError, alone, path_of, records};

impl Git {
    /// Brings index and files back to the commit that the journal names as the old one.
    pub(super) fn undo_checkout(
        &self,
        lock: &RepositoryLock,
        checkout: &Checkout,
        journal: &Journal,
    ) -> Result<(), GitError> {
        let (top, place) = (&checkout.top, &checkout.place);
        place.clear_git_locks().map_err(checkout.failed())?;
        let mut changes = self.tree_changes(top, &journal.from, &journal.to)?;
        let kept: HashSet<&PathBuf> = journal.kept.iter().collect();
        changes.retain(|change| !kept.contains(&change.path));
        self.restore_index(lock, checkout, &changes)?;
        let draft = place.draft();
        self.remove_written(top, &journal.to, &changes)?;
        let sparse = self.sparse_paths(top, &draft)?;
        changes.retain(|change| !sparse.contains(&change.path));
        let missing = missing(top, &changes).map_err(checkout.failed())?;
        let call = |words: &[&str], input| self.run_held(lock, HeldCall { top, words, index: Some(&draft), input });
        if !missing.is_empty() {
            let input = place.paths(&missing).map_err(checkout.failed())?;
            call(&["checkout-index", "--force", "--quiet", "--index", "-z", "--stdin"], Some(input))?;
        }
        match call(&["update-index", "-q", "--refresh"], None) {
            Ok(()) | Err(GitError::Failed { code: Some(1), .. }) => {}
            Err(error) => return Err(error),
        }
        fs::rename(&draft, place.index()).map_err(checkout.failed())
    }

    /// Makes the draft an index in which the changed paths are as in the old commit.
    fn restore_index(
        &self,
        lock: &RepositoryLock,
        checkout: &Checkout,
        changes: &[TreeChange],
    ) -> Result<(), GitError> {
        let place = &checkout.place;
        let read = |path: &Path| fs::read(path).ok();
        let (current, old) = (read(&place.index()), read(&place.old_index()));
        let untouched = current == old || current == read(&place.new_index());
        let source = old.filter(|_| untouched).or(current).unwrap_or_default();
        if source.is_empty() {
            return self.run_held(
                lock,
                HeldCall {
                    top: &checkout.top,
                    words: &["read-tree", "--empty"],
                    index: Some(&place.draft()),
                    input: None,
                },
            );
        }
        fs::write(place.draft(), source).map_err(checkout.failed())?;
        if untouched {
            return Ok(());
        }
        // A user has removed our lock and changed the index since: only the entries that are the step's go back.
        let entries = self.index_entries(&checkout.top, &place.draft())?;
        let ours = changes.iter().filter(|change| entries.get(&change.path) == change.new.as_ref());
        let lines: Vec<u8> = ours.flat_map(TreeChange::old_line).collect();
        if lines.is_empty() {
            return Ok(());
        }
        let input = place.input(&lines).map_err(checkout.failed())?;
        let words = ["update-index", "-z", "--index-info"];
        let call = HeldCall { top: &checkout.top, words: &words, index: Some(&place.draft()), input: Some(input) };
        self.run_held(lock, call)
    }

    fn remove_written(&self, top: &Path, commit: &str, changes: &[TreeChange]) -> Result<(), GitError> {
        let reachable: Vec<&TreeChange> =
            changes.iter().filter(|change| has_plain_parents(top, &change.path)).collect();
        let objects = self.objects_on_disk(top, &reachable);
        for change in reachable {
            let written = match objects.get(&change.path) {
                Some(object) if change.new.as_ref().is_some_and(|entry| entry.is_file_of(object)) => true,
                Some(object) if change.old.as_ref().is_some_and(|entry| entry.is_file_of(object)) => false,
                _ => self.is_written(top, commit, change)?,
            };
            if written {
                // A file that a user removes meanwhile is gone as well.
                let _ = fs::remove_file(top.join(&change.path));
            }
            // Git can have made the directory and not yet the file; a file of the old commit may have to be there.
            if change.old.is_none() && fs::symlink_metadata(top.join(&change.path)).is_err() {
                remove_empty_parents(top, &change.path);
            }
        }
        for change in changes.iter().filter(|change| change.is_new_submodule()) {
            // Git made an empty directory for it; one that has files stays.
            let _ = fs::remove_dir(top.join(&change.path));
            remove_empty_parents(top, &change.path);
        }
        Ok(())
    }

    /// Paths that are not on the disk because the user wants only a part of the files.
    fn sparse_paths(&self, top: &Path, index: &Path) -> Result<HashSet<PathBuf>, GitError> {
        let listed = self.with_index(index).succeed(&alone(top, &["ls-files", "-z", "-t"]))?;
        Ok(records(&listed).filter_map(|entry| entry.strip_prefix(b"S ")).map(path_of).collect())
    }
}

/// Paths that the old commit has and the disk has not, and that can be written without removing anything.
fn missing(top: &Path, changes: &[TreeChange]) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for change in changes.iter().filter(|change| change.old.is_some()) {
        let absent = match fs::symlink_metadata(top.join(&change.path)) {
            Ok(_) => false,
            Err(error) if error.kind() == io::ErrorKind::NotFound => true,
            // A user's file is where a directory was.
            Err(error) if error.kind() == io::ErrorKind::NotADirectory => false,
            Err(error) => return Err(error),
        };
        if absent && has_plain_parents(top, &change.path) {
            found.push(change.path.clone());
        }
    }
    Ok(found)
}

/// Whether all directories above are directories, or not there: through a link, a file outside would be meant.
pub(super) fn has_plain_parents(top: &Path, path: &Path) -> bool {
    let above = path.ancestors().skip(1).filter(|level| !level.as_os_str().is_empty());
    above.into_iter().all(|level| match fs::symlink_metadata(top.join(level)) {
        Ok(found) => found.is_dir(),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    })
}

fn remove_empty_parents(top: &Path, path: &Path) {
    let above = path.ancestors().skip(1).take_while(|level| !level.as_os_str().is_empty());
    for level in above {
        match fs::remove_dir(top.join(level)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => break,
            _ => {}
        }
    }
}
