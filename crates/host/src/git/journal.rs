//! What is written down before a checkout is changed, so that the next process can undo or finish it.
//!
//! Invariant: the journal is complete or absent, and it is on the disk before the first file changes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::{path_of, records};

const NAME: &str = "shuntyard-checkout";
const FORMAT: &[u8] = b"shuntyard checkout 1";
/// The index that git works on.
const DRAFT: &str = "index.shuntyard";
const OLD: &str = "index.shuntyard-old";
const NEW: &str = "index.shuntyard-new";
/// The paths that git is to read.
const INPUT: &str = "shuntyard-checkout.paths";

/// A working tree's own git directory, and what of ours can be in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Administration {
    pub directory: PathBuf,
}

impl Administration {
    pub(super) fn index(&self) -> PathBuf {
        let index = self.directory.join("index");
        // Git follows a link to the index and locks its target.
        fs::canonicalize(&index).unwrap_or(index)
    }

    pub(super) fn index_lock(&self) -> PathBuf {
        let mut path = self.index().into_os_string();
        path.push(".lock");
        path.into()
    }

    pub(super) fn draft(&self) -> PathBuf {
        self.directory.join(DRAFT)
    }

    pub(super) fn old_index(&self) -> PathBuf {
        self.directory.join(OLD)
    }

    pub(super) fn new_index(&self) -> PathBuf {
        self.directory.join(NEW)
    }

    pub(super) fn journal(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    /// A file with these bytes, open for reading.
    pub(super) fn input(&self, bytes: &[u8]) -> io::Result<File> {
        let path = self.directory.join(INPUT);
        fs::write(&path, bytes)?;
        File::open(path)
    }

    /// A file with these paths, each with a zero byte after it.
    pub(super) fn paths(&self, paths: &[PathBuf]) -> io::Result<File> {
        let bytes = paths.iter().flat_map(|path| path.as_os_str().as_bytes().iter().copied().chain([0]));
        self.input(&bytes.collect::<Vec<u8>>())
    }

    /// Removes the journal first: what is left without it means nothing.
    pub(super) fn clear(&self) -> io::Result<()> {
        remove(&self.journal())?;
        for name in [OLD, NEW, DRAFT, INPUT, "shuntyard-checkout.new", "index.lock.shuntyard"] {
            remove(&self.directory.join(name))?;
        }
        self.clear_git_locks()
    }

    /// What a killed git leaves beside the indexes that only we use.
    pub(super) fn clear_git_locks(&self) -> io::Result<()> {
        remove(&self.directory.join(format!("{DRAFT}.lock")))
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Journal {
    pub top: PathBuf,
    /// The full name of the branch.
    pub reference: String,
    pub from: String,
    pub to: String,
    /// Paths that were as in `to` before anything was done: undoing does not touch them.
    pub kept: Vec<PathBuf>,
}

impl Journal {
    pub(super) fn load(place: &Administration) -> io::Result<Option<Self>> {
        match fs::read(place.journal()) {
            Ok(bytes) => Self::parse(&bytes).map(Some).ok_or_else(|| {
                io::Error::new(io::ErrorKind::InvalidData, "another version of shuntyard wrote this journal")
            }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    pub(super) fn store(&self, place: &Administration) -> io::Result<()> {
        let draft = place.directory.join("shuntyard-checkout.new");
        let mut file = File::create(&draft)?;
        file.write_all(&self.bytes())?;
        file.sync_all()?;
        fs::rename(&draft, place.journal())?;
        sync_directory(&place.directory)
    }

    fn bytes(&self) -> Vec<u8> {
        let fixed = [FORMAT, self.top.as_os_str().as_bytes(), self.reference.as_bytes()];
        let commits = [self.from.as_bytes(), self.to.as_bytes()];
        let kept = self.kept.iter().map(|path| path.as_os_str().as_bytes());
        let mut bytes = Vec::new();
        for record in fixed.into_iter().chain(commits).chain(kept) {
            bytes.extend_from_slice(record);
            bytes.push(0);
        }
        bytes
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let mut records = records(bytes);
        if records.next()? != FORMAT {
            return None;
        }
        let top = path_of(records.next()?);
        let mut text = || String::from_utf8(records.next()?.to_vec()).ok();
        let (reference, from, to) = (text()?, text()?, text()?);
        Some(Self { top, reference, from, to, kept: records.map(path_of).collect() })
    }
}

/// Copies a file to the disk itself; nothing when there is none.
pub(super) fn copy_synced(source: &Path, target: &Path) -> io::Result<()> {
    remove(target)?;
    match fs::copy(source, target) {
        Ok(_) => File::open(target)?.sync_all(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

pub(super) fn sync_directory(directory: &Path) -> io::Result<()> {
    File::open(directory)?.sync_all()
}

/// Removes a file that may be gone already.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_journal_is_read_as_it_was_written() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let place = Administration { directory: scratch.path().to_owned() };
        assert_eq!(Journal::load(&place).unwrap(), None);
        let journal = Journal {
            top: path_of(b"/somewhere/with\nlines \xff"),
            reference: "refs/heads/main".to_owned(),
            from: "a".repeat(40),
            to: "b".repeat(40),
            kept: vec![path_of(b"one"), path_of(b"\xfe\n")],
        };
        journal.store(&place).unwrap();
        assert_eq!(Journal::load(&place).unwrap(), Some(journal));
        std::fs::write(place.journal(), b"shuntyard checkout 2\0").unwrap();
        assert!(Journal::load(&place).is_err());
        place.clear().unwrap();
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 0);
    }
}
