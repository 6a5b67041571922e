//! Refs and files that carry the program's former name, Switchyard, get the present one.

use std::fs;
use std::path::Path;

use super::workspace::file_error;
use super::{Git, GitError};
use crate::former_name::present_name;

const FORMER: &str = "refs/switchyard/";
const MOVE: &str = "+refs/switchyard/*:refs/shuntyard/*";

impl Git {
    /// Renames what the program keeps in this repository. Repeated after a death, it goes on; repeated later, it finds
    /// nothing to do. Branches keep their names: which of them belong to a task is recorded in the refs.
    pub fn adopt_former_names(&self, repository: &Path) -> Result<(), GitError> {
        let common = self.common_directory(repository)?;
        rename_files(&common)?;
        for worktree in fs::read_dir(common.join("worktrees")).into_iter().flatten().flatten() {
            rename_files(&worktree.path())?;
        }
        let former = self.references(repository, &[FORMER])?;
        if former.is_empty() {
            return Ok(());
        }
        self.fetch_refs_into(repository, &common, &[MOVE.to_owned()])?;
        former.iter().try_for_each(|(name, at)| self.delete_ref(repository, name, Some(at)))
    }
}

/// Journals of deliveries that were cut off, locks, and the mark of a workspace.
fn rename_files(directory: &Path) -> Result<(), GitError> {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let Some(present) = name.to_str().and_then(present_name) else { continue };
        let (from, to) = (entry.path(), directory.join(present));
        if entry.file_type().is_ok_and(|kind| kind.is_file()) && to.symlink_metadata().is_err() {
            fs::rename(&from, &to).map_err(|source| file_error("rename", &from, source))?;
        }
    }
    Ok(())
}
