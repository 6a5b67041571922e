//! Where this program keeps things, and how it writes what only its user may read.
//!
//! Invariant: this file reads no process environment: the caller passes the variables.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

const DIRECTORY: &str = "shuntyard";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathsError {
    #[error("find the home directory: HOME is not set")]
    NoHome,
    #[error("use {variable}: it must be an absolute path, not {}", value.display())]
    NotAbsolute { variable: &'static str, value: OsString },
}

/// The same places on every system: people who use terminals look for them there on macOS as well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paths {
    pub config_dir: PathBuf,
    pub data_dir: PathBuf,
    pub cache_dir: PathBuf,
}

impl Paths {
    /// `variable` answers like the process environment. `SHUNTYARD_DATA_DIR` is the data directory itself; the XDG
    /// variables name the directory that ours is in, and as their rules demand count only when absolute.
    pub fn new(variable: impl Fn(&str) -> Option<OsString>) -> Result<Self, PathsError> {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let home = match set("HOME") {
            None => return Err(PathsError::NoHome),
            Some(home) => absolute("HOME", home)?,
        };
        let base = |name: &str, otherwise: &str| {
            let named = set(name).map(PathBuf::from).filter(|path| path.is_absolute());
            named.unwrap_or_else(|| home.join(otherwise)).join(DIRECTORY)
        };
        Ok(Self {
            config_dir: base("XDG_CONFIG_HOME", ".config"),
            data_dir: match set("SHUNTYARD_DATA_DIR") {
                Some(value) => absolute("SHUNTYARD_DATA_DIR", value)?,
                None => base("XDG_DATA_HOME", ".local/share"),
            },
            cache_dir: base("XDG_CACHE_HOME", ".cache"),
        })
    }
}

/// A relative place would depend on where each command happens to be run.
fn absolute(variable: &'static str, value: OsString) -> Result<PathBuf, PathsError> {
    let path = PathBuf::from(&value);
    if path.is_absolute() { Ok(path) } else { Err(PathsError::NotAbsolute { variable, value }) }
}

/// Creates the directory, and those above it, for this user only; one that exists is closed to others.
pub fn private_dir(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)?;
    if fs::metadata(path)?.permissions().mode() & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Replaces the file in one step: a reader, or a crash at any moment, meets the old content or the new, never a part.
/// Only this user can read it.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a file name"))?;
    let directory = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (draft, mut file) = create_draft(directory, name)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written?;
    // Without this the new name itself can be lost with the power.
    File::open(directory)?.sync_all()
}

fn create_draft(directory: &Path, name: &OsStr) -> io::Result<(PathBuf, File)> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    loop {
        let mut draft = OsString::from(".");
        draft.push(name);
        draft.push(format!(".{}.{}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)));
        let draft = directory.join(draft);
        match OpenOptions::new().write(true).create_new(true).mode(0o600).open(&draft) {
            // Left by a process that had our number and was killed here, or in use by one in another container.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (draft, file)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(variables: &[(&str, &str)]) -> Result<Paths, PathsError> {
        let find = |name: &str| variables.iter().find(|(other, _)| *other == name).map(|(_, value)| value.into());
        Paths::new(find)
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn places_follow_the_variables() {
        let expect = |config: &str, data: &str, cache: &str| {
            Ok(Paths { config_dir: config.into(), data_dir: data.into(), cache_dir: cache.into() })
        };
        let plain = expect("/h/.config/shuntyard", "/h/.local/share/shuntyard", "/h/.cache/shuntyard");
        assert_eq!(paths(&[("HOME", "/h")]), plain);
        assert_eq!(paths(&[("HOME", "/h"), ("XDG_CONFIG_HOME", ""), ("XDG_DATA_HOME", "relative")]), plain);
        let xdg = [("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_DATA_HOME", "/d"), ("XDG_CACHE_HOME", "/e")];
        assert_eq!(paths(&xdg), expect("/c/shuntyard", "/d/shuntyard", "/e/shuntyard"));
        let own = [("HOME", "/h"), ("XDG_DATA_HOME", "/d"), ("SHUNTYARD_DATA_DIR", "/own")];
        assert_eq!(paths(&own), expect("/h/.config/shuntyard", "/own", "/h/.cache/shuntyard"));
    }

    #[test]
    fn unusable_variables_are_named() {
        assert_eq!(paths(&[]), Err(PathsError::NoHome));
        assert_eq!(paths(&[("HOME", "")]), Err(PathsError::NoHome));
        let error = paths(&[("HOME", "/h"), ("SHUNTYARD_DATA_DIR", "here")]).unwrap_err();
        assert_eq!(error.to_string(), "use SHUNTYARD_DATA_DIR: it must be an absolute path, not here");
    }

    #[test]
    fn private_means_private() {
        let root = shuntyard_testkit::Scratch::of_test();
        let directory = root.path().join("a/b");
        private_dir(&directory).unwrap();
        assert_eq!((mode(&directory), mode(directory.parent().unwrap())), (0o700, 0o700));
        fs::set_permissions(&directory, Permissions::from_mode(0o755)).unwrap();
        private_dir(&directory).unwrap();
        assert_eq!(mode(&directory), 0o700);

        let file = directory.join("secret");
        fs::write(&file, "old").unwrap();
        fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
        write_private(&file, b"new").unwrap();
        assert_eq!((fs::read(&file).unwrap(), mode(&file)), (b"new".to_vec(), 0o600));
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_write_leaves_nothing() {
        let root = shuntyard_testkit::Scratch::of_test();
        let taken = root.path().join("directory");
        fs::create_dir(&taken).unwrap();
        fs::write(taken.join("file"), "").unwrap();
        assert!(write_private(&taken, b"x").is_err());
        assert!(private_dir(&taken.join("file")).is_err());
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }

    #[test]
    fn many_writers_leave_one_whole_file() {
        let root = shuntyard_testkit::Scratch::of_test();
        let file = root.path().join("shared");
        std::thread::scope(|scope| {
            for letter in b'a'..=b'f' {
                let file = &file;
                scope.spawn(move || (0..20).for_each(|_| write_private(file, &[letter; 5000]).unwrap()));
            }
        });
        let bytes = fs::read(&file).unwrap();
        assert!(bytes.len() == 5000 && bytes.iter().all(|byte| *byte == bytes[0]));
        assert_eq!(fs::read_dir(root.path()).unwrap().count(), 1);
    }
}
