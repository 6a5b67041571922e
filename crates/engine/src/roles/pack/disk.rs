//! Every change in the target goes through here, one step at a time, and each step is whole or not there at all.
//!
//! A file is written beside its place under a name that differs recognisably from its own, so that a later run finds
//! and removes what a killed one has left.

use super::error::PackError;
use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, Permissions},
    io::{self, Write},
    os::unix::fs::{OpenOptionsExt, PermissionsExt},
    path::{Path, PathBuf},
};

#[derive(Debug, Default)]
pub struct Disk {
    /// How many steps a test lets through before it pretends that the process was killed.
    #[cfg(test)]
    pub stop_after: std::cell::Cell<Option<u32>>,
}

impl Disk {
    #[cfg(test)]
    fn step(&self) -> Result<(), PackError> {
        match self.stop_after.get() {
            Some(0) => Err(PackError::Stopped),
            left => {
                self.stop_after.set(left.map(|left| left - 1));
                Ok(())
            }
        }
    }

    #[cfg(not(test))]
    fn step(&self) -> Result<(), PackError> {
        Ok(())
    }

    /// `mode`: that of the file that is replaced or put back; a new one gets what the user's umask says.
    pub fn write(&self, path: &Path, bytes: &[u8], mode: Option<u32>) -> Result<(), PackError> {
        let draft = draft_of(path);
        self.step()?;
        // What lies there may be a link that leads elsewhere: it is never written through. And what is written may be
        // secret: until it has the mode of what it replaces, only its owner reads it.
        remove_if_there(&draft)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        if let Some(mode) = mode {
            options.mode(mode & 0o600);
        }
        let mut file = options.open(&draft).map_err(PackError::io("write", &draft))?;
        let permissions = mode.map(Permissions::from_mode);
        let written =
            file.write_all(bytes).and_then(|()| permissions.map_or(Ok(()), |mode| file.set_permissions(mode)));
        written.and_then(|()| flush(&file)).map_err(PackError::io("write", &draft))?;
        self.step()?;
        fs::rename(&draft, path).map_err(PackError::io("replace", path))?;
        settle(path);
        Ok(())
    }

    pub fn link(&self, path: &Path, to: &Path) -> Result<(), PackError> {
        let draft = draft_of(path);
        self.step()?;
        remove_if_there(&draft)?;
        std::os::unix::fs::symlink(to, &draft).map_err(PackError::io("link", &draft))?;
        self.step()?;
        fs::rename(&draft, path).map_err(PackError::io("replace", path))?;
        settle(path);
        Ok(())
    }

    pub fn remove(&self, path: &Path) -> Result<(), PackError> {
        self.step()?;
        remove_if_there(path)?;
        settle(path);
        Ok(())
    }

    pub fn make_directory(&self, path: &Path) -> Result<(), PackError> {
        self.step()?;
        match fs::create_dir(path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
            made => made.map_err(PackError::io("make", path)),
        }
    }

    /// One that has something in it stays.
    pub fn remove_directory(&self, path: &Path) -> Result<(), PackError> {
        self.step()?;
        match fs::remove_dir(path) {
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::DirectoryNotEmpty) => Ok(()),
            removed => removed.map_err(PackError::io("remove", path)),
        }
    }

    /// Removes what a killed run has left beside these files.
    pub fn sweep<'p>(&self, paths: impl IntoIterator<Item = &'p Path>) -> Result<(), PackError> {
        for path in paths {
            let draft = draft_of(path);
            if draft.symlink_metadata().is_ok() {
                self.remove(&draft)?;
            }
        }
        Ok(())
    }
}

fn draft_of(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".shuntyard-draft");
    path.with_file_name(name)
}

fn remove_if_there(path: &Path) -> Result<(), PackError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed.map_err(PackError::io("remove", path)),
    }
}

/// Without this the new name itself can be lost with the power. Some file systems cannot do it, and lose no more by
/// that.
fn settle(path: &Path) {
    if let Some(directory) = path.parent() {
        drop(File::open(directory).and_then(|directory| flush(&directory)));
    }
}

/// A test cannot take the power away, and waits for the disk would be most of its time.
fn flush(file: &File) -> io::Result<()> {
    if cfg!(test) { Ok(()) } else { file.sync_all() }
}

#[cfg(test)]
mod tests {
    use super::{Disk, draft_of};
    use std::{fs, os::unix::fs::PermissionsExt};

    #[test]
    fn a_link_in_the_place_of_a_draft_is_not_written_through() {
        let root = shuntyard_testkit::Scratch::of_test();
        let (victim, target) = (root.join("victim"), root.join("opencode.jsonc"));
        fs::write(&victim, "mine").unwrap();
        std::os::unix::fs::symlink(&victim, draft_of(&target)).unwrap();
        Disk::default().write(&target, b"{}", Some(0o600)).unwrap();
        assert_eq!(fs::read_to_string(&victim).unwrap(), "mine");
        assert_eq!(fs::read_to_string(&target).unwrap(), "{}");
        let found = target.symlink_metadata().unwrap();
        assert!(found.is_file() && found.permissions().mode() & 0o777 == 0o600, "{found:?}");
    }
}
