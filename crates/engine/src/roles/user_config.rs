//! Changing the user's own configuration file.
//!
//! Invariant: the file holds the old text or the new one, whole, and the new one has passed the checks that every
//! command makes.

use crate::roles::pack::{PackError, diff::unified_config, disk::Disk};
use shuntyard_core::settings::{Change, ChangeError, set};
use shuntyard_host::text_file::{MOST_CONFIG_BYTES, read_text};
use std::{
    fs::{self, File},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
};

/// A new file can come to hold addresses with passwords in them, so only its owner reads it.
const NEW_FILE_MODE: u32 = 0o600;

/// A change that was checked and not yet written.
#[derive(Debug)]
pub struct UserConfigEdit {
    /// The file itself, where the usual place is a link to it.
    pub file: PathBuf,
    pub change: Change,
    /// Empty when nothing changes.
    pub diff: String,
    before: String,
}

#[derive(Debug, thiserror::Error)]
pub enum UserConfigError {
    #[error("{} cannot be read: {reason}", path.display())]
    Unreadable { path: PathBuf, reason: String },
    #[error(transparent)]
    Refused(#[from] ChangeError),
    #[error("failed to {0}")]
    Unwritable(#[from] PackError),
    #[error("{} has been changed by another process in the meantime", .0.display())]
    Changed(PathBuf),
}

impl UserConfigEdit {
    #[must_use]
    pub fn changes(&self) -> bool {
        !self.diff.is_empty()
    }
}

/// Finds out what setting `key` to `value` makes of the file at `path`, which does not have to exist.
pub fn plan(path: &Path, key: &str, value: &str) -> Result<UserConfigEdit, UserConfigError> {
    // A link is followed, because the file that it leads to is the one that the user keeps.
    let file = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let before = read(&file)?;
    let shown = path.display().to_string();
    let change = set(&shown, &before, key, value)?;
    let diff = if change.text == before { String::new() } else { unified_config(&shown, &before, &change.text) };
    Ok(UserConfigEdit { file, change, diff, before })
}

/// Puts the new text in the file's place.
pub fn write(edit: &UserConfigEdit) -> Result<(), UserConfigError> {
    if !edit.changes() {
        return Ok(());
    }
    let directory = edit.file.parent().unwrap_or(Path::new("/"));
    let io = |doing, path: &Path| {
        let path = path.to_owned();
        move |source| PackError::Io { doing, path, source }
    };
    fs::create_dir_all(directory).map_err(io("make", directory))?;
    // Two commands at once must not undo each other's change: the second one finds the lock or the new text.
    let lock = File::open(directory).map_err(io("open", directory))?;
    if lock.try_lock().is_err() || read(&edit.file)? != edit.before {
        return Err(UserConfigError::Changed(edit.file.clone()));
    }
    let mode = edit.file.metadata().map_or(NEW_FILE_MODE, |found| found.permissions().mode());
    Ok(Disk::default().write(&edit.file, edit.change.text.as_bytes(), Some(mode))?)
}

fn read(file: &Path) -> Result<String, UserConfigError> {
    match read_text(file, MOST_CONFIG_BYTES) {
        Ok(text) => Ok(text),
        Err(error) if error.is_absent() => Ok(String::new()),
        Err(error) => Err(UserConfigError::Unreadable { path: file.to_owned(), reason: error.to_string() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn a_new_file_is_private_and_an_old_one_keeps_its_mode_and_its_link() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let new = scratch.join("config/shuntyard/config.toml");
        write(&plan(&new, "budget.strict", "true").unwrap()).unwrap();
        assert_eq!((fs::read_to_string(&new).unwrap().as_str(), mode(&new)), ("[budget]\nstrict = true\n", 0o600));
        let kept = scratch.join("dotfiles.toml");
        fs::write(&kept, "# mine\n").unwrap();
        fs::set_permissions(&kept, fs::Permissions::from_mode(0o640)).unwrap();
        let link = scratch.join("config.toml");
        std::os::unix::fs::symlink(&kept, &link).unwrap();
        write(&plan(&link, "budget.strict", "true").unwrap()).unwrap();
        assert_eq!(fs::read_to_string(&kept).unwrap(), "# mine\n\n[budget]\nstrict = true\n");
        assert_eq!((mode(&kept), link.is_symlink()), (0o640, true));
    }

    #[test]
    fn a_change_of_another_process_is_not_undone() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let file = scratch.join("config.toml");
        let first = plan(&file, "budget.strict", "true").unwrap();
        write(&plan(&file, "default_model", "a/b").unwrap()).unwrap();
        assert!(matches!(write(&first), Err(UserConfigError::Changed(_))));
        assert_eq!(fs::read_to_string(&file).unwrap(), "default_model = \"a/b\"\n");
        let again = plan(&file, "budget.strict", "true").unwrap();
        let lock = File::open(scratch.path()).unwrap();
        lock.lock().unwrap();
        assert!(matches!(write(&again), Err(UserConfigError::Changed(_))));
        drop(lock);
        write(&again).unwrap();
    }
}
