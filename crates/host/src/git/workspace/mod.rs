//! A private repository for one task: a local clone of the user's repository with refs, stash, index, configuration
//! and hooks of its own. Nothing that happens in it touches the user's repository.
//!
//! Invariants: a workspace is complete or absent, because it is made under another name and renamed last. Git acts on
//! exactly this repository or fails. Our own calls use the configuration that was recorded when the workspace was
//! made, whatever an agent has written since.

mod archive;
mod borrowing;
mod collect;
mod configuration;
mod copies;
mod create;
mod leftovers;
mod linked;
mod made_objects;
mod own_files;
mod owned;
mod restart;
mod saved_footprint;
mod shallow;
mod submodules;
mod tips;
mod unfinished;
mod unsaved;

pub use collect::Collected;
pub use configuration::Hooks;
pub use create::{Objects, Order, Purpose, Source};
pub use linked::{LinkedWorktree, TakenOver, Uncommitted};
pub use owned::{Published, owned_namespace};
pub use restart::Restarted;
pub use unsaved::Unsaved;

use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Git, GitError, Hold};
use crate::paths::{private_dir, write_private};

/// In the workspace's git directory; it proves that the repository there is the one that was made.
const IDENTITY: &str = "shuntyard-workspace";
/// What is delivered after an attempt, and every tip that an attempt left.
const WORK: &str = "refs/shuntyard/work";
const KEPT: &str = "refs/shuntyard/kept";
/// The refs of the user's repository when the workspace was made: commits that were not made in it.
const SOURCE: &str = "refs/shuntyard/source";

/// What is known of a workspace outside of its reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// Which task of which store it was made for.
    pub owner: String,
    /// The branch that its work is on.
    pub branch: String,
    /// The commit that the work starts from; only what comes after it is delivered.
    pub base: String,
    identity: String,
    /// Whether the repository's setup command has run.
    #[serde(default)]
    pub set_up: bool,
    /// A restart has begun and not ended: what is checked out is not an agent's.
    #[serde(default)]
    restarting: bool,
    /// The setup command has begun and not succeeded: what is in the workspace since is not an agent's.
    #[serde(default)]
    setting_up: bool,
}

#[derive(Debug, Clone)]
pub struct Workspace {
    pub directory: PathBuf,
    pub record: Record,
    git: Git,
}

impl Git {
    /// The workspace at this path; `None` when there is none, or none that was made for this owner.
    pub fn open_workspace(&self, directory: &Path, owner: &str) -> Result<Option<Workspace>, GitError> {
        let record = read_record(&admin_of(directory)).filter(|record| record.owner == owner && directory.is_dir());
        Ok(record.map(|record| Workspace::at(directory, record, self)))
    }
}

impl Workspace {
    fn at(directory: &Path, record: Record, git: &Git) -> Self {
        Self { directory: directory.to_owned(), record, git: git.holding(directory) }
    }

    /// Git, bound to this repository, after the recorded configuration was put back.
    pub fn git(&self) -> Result<Git, GitError> {
        let git_dir = self.git_dir();
        let found = fs::read_to_string(git_dir.join(IDENTITY)).unwrap_or_default();
        if found != self.record.identity {
            let why = "the repository that was made for this task was removed or replaced";
            return Err(GitError::NotThatRepository { path: git_dir, why });
        }
        if let Some(path) = own_files::link_in(&git_dir) {
            return Err(GitError::NotThatRepository { path, why: "a link is in the place of one of git's own files" });
        }
        self.restore_configuration()?;
        self.restore_shallow()?;
        self.git.bound_to(&git_dir, Some(&self.directory))
    }

    /// What is checked out now, also while an agent is at work; reading it changes nothing.
    pub fn current_head(&self) -> Result<Option<String>, GitError> {
        self.git.bound_to(&self.git_dir(), Some(&self.directory))?.head(&self.directory)
    }

    #[must_use]
    pub fn git_dir(&self) -> PathBuf {
        self.directory.join(".git")
    }

    fn admin(&self) -> PathBuf {
        admin_of(&self.directory)
    }

    /// Puts back what decides how git treats files and which programs it runs.
    fn restore_configuration(&self) -> Result<(), GitError> {
        let git_dir = self.git_dir();
        for (saved, place) in SAVED {
            let (saved, place) = (self.admin().join(saved), git_dir.join(place));
            match fs::read(&saved) {
                Ok(wanted) if fs::read(&place).ok().as_ref() == Some(&wanted) && is_plain(&place) => {}
                Ok(wanted) => replace_file(&place, &wanted)?,
                // It was not there when the workspace was made.
                Err(_) if place.symlink_metadata().is_ok() => remove_any(&place)?,
                Err(_) => {}
            }
        }
        Ok(())
    }

    /// Writes the record anew, in one step.
    pub fn save_record(&self) -> Result<(), GitError> {
        write_record(&self.admin(), &self.record)
    }

    /// Leaves the directory as it is, with its archive, under another name, where nothing looks for it.
    pub fn set_aside(self) -> Result<(), GitError> {
        self.git.await_stragglers()?;
        self.stop_borrowing();
        let aside = beside(&self.directory, &format!("aside-{}", crate::clock::now_micros()));
        // The record first: without it, nothing takes the directory for a workspace, or removes the archive.
        for (from, to) in [(self.admin(), admin_of(&aside)), (self.directory.clone(), aside)] {
            fs::rename(&from, &to).map_err(|source| file_error("rename", &from, source))?;
        }
        Ok(())
    }

    /// The directories in which earlier workspaces of this place were left, the oldest first.
    #[must_use]
    pub fn left_aside(directory: &Path) -> Vec<PathBuf> {
        let prefix = beside(directory, "aside-");
        let (Some(parent), Some(prefix)) = (prefix.parent(), prefix.file_name()) else { return Vec::new() };
        let entries = fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path());
        let is_aside = |path: &PathBuf| {
            path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_encoded_bytes()))
        };
        let mut found: Vec<PathBuf> = entries.filter(is_aside).collect();
        found.sort();
        found
    }

    /// Removes the workspace. Its work must be kept elsewhere by then.
    pub fn remove(self) -> Result<(), GitError> {
        self.git.remove_workspace(&self.directory)
    }
}

impl Git {
    /// The same git, with the lock of the workspace at this place held by every call.
    fn holding(&self, directory: &Path) -> Self {
        Self { hold: Some(Hold::by_call(admin_of(directory).join("lock"))), ..self.clone() }
    }

    /// Removes a directory and what was recorded of it. It has another name first, so that one that is half removed is
    /// never taken for a workspace.
    fn remove_workspace(&self, directory: &Path) -> Result<(), GitError> {
        if admin_of(directory).is_dir() {
            self.holding(directory).await_stragglers()?;
        }
        let trash = beside(directory, "removed");
        remove_any(&trash)?;
        create::remove_half_made(directory);
        match fs::rename(directory, &trash) {
            Ok(()) => remove_any(&trash)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(source) => return Err(file_error("rename", directory, source)),
        }
        remove_any(&admin_of(directory))
    }
}

/// Files in the git directory that are put back, by the name under which they are saved.
const SAVED: [(&str, &str); 5] = [
    ("config", "config"),
    ("exclude", "info/exclude"),
    ("attributes", "info/attributes"),
    ("sparse-checkout", "info/sparse-checkout"),
    ("grafts", "info/grafts"),
];

/// Beside the workspace, where work in it does not reach: what was recorded of it.
fn admin_of(directory: &Path) -> PathBuf {
    beside(directory, "record")
}

/// `.NAME.WHAT` beside NAME.
fn beside(directory: &Path, what: &str) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(directory.file_name().unwrap_or_default());
    name.push(".");
    name.push(what);
    directory.with_file_name(name)
}

fn read_record(admin: &Path) -> Option<Record> {
    serde_json::from_slice(&fs::read(admin.join("record")).ok()?).ok()
}

fn write_record(admin: &Path, record: &Record) -> Result<(), GitError> {
    let place = admin.join("record");
    let write = || {
        private_dir(admin)?;
        write_private(&place, &serde_json::to_vec_pretty(record)?)
    };
    write().map_err(|source| file_error("write", &place, source))
}

/// Removes a file or a directory. Directories that forbid it, as package managers make them, are opened first.
pub(crate) fn remove_any(path: &Path) -> Result<(), GitError> {
    let Ok(found) = path.symlink_metadata() else { return Ok(()) };
    if !found.is_dir() {
        return fs::remove_file(path).map_err(|source| file_error("remove", path, source));
    }
    let removed = fs::remove_dir_all(path).or_else(|error| {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return Err(error);
        }
        open_directories(path)?;
        fs::remove_dir_all(path)
    });
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(file_error("remove", path, error)),
        _ => Ok(()),
    }
}

fn open_directories(path: &Path) -> io::Result<()> {
    fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            open_directories(&entry.path())?;
        }
    }
    Ok(())
}

fn is_plain(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file())
}

/// Whatever is in the place, a link to elsewhere too, is not written through.
fn replace_file(place: &Path, bytes: &[u8]) -> Result<(), GitError> {
    let mut draft = place.as_os_str().to_owned();
    draft.push(".shuntyard");
    let draft = PathBuf::from(draft);
    let write = || {
        if let Some(parent) = place.parent() {
            if parent.symlink_metadata().is_ok_and(|found| !found.is_dir()) {
                fs::remove_file(parent)?;
            }
            fs::create_dir_all(parent)?;
        }
        drop(fs::remove_file(&draft));
        fs::write(&draft, bytes)?;
        if place.is_dir() && !place.is_symlink() {
            fs::remove_dir_all(place)?;
        }
        fs::rename(&draft, place)
    };
    write().map_err(|source| file_error("write", place, source))
}

pub(crate) fn file_error(what: &str, path: &Path, source: io::Error) -> GitError {
    GitError::Run { command: format!("{what} {}", path.display()), source }
}
