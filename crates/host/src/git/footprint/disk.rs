//! Files as they are on the disk, with a hash of their content where that is cheap.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::OnDisk;

/// A larger file is not read.
const LARGEST: u64 = 1 << 20;
/// What one footprint reads in all.
const IN_ALL: u64 = 256 << 20;

pub(super) struct Reader<'a> {
    top: &'a Path,
    left: u64,
}

impl<'a> Reader<'a> {
    pub(super) fn new(top: &'a Path) -> Self {
        Self { top, left: IN_ALL }
    }

    pub(super) fn read(&mut self, path: &Path, with_content: bool) -> OnDisk {
        let path = self.top.join(path);
        let Ok(found) = path.symlink_metadata() else { return OnDisk::Absent };
        if found.is_dir() {
            return OnDisk::Directory;
        }
        let cheap = with_content && found.len() <= LARGEST.min(self.left);
        let content = if cheap { hash(&path) } else { None };
        self.left -= if content.is_some() { found.len() } else { 0 };
        let modified_nanos = i128::from(found.mtime()) * 1_000_000_000 + i128::from(found.mtime_nsec());
        OnDisk::File { size: found.len(), modified_nanos, inode: found.ino(), content }
    }
}

/// The hashes of the files that there are among these. One that is too large counts by its size and its time.
pub(super) fn hashes(directory: &Path, names: impl IntoIterator<Item = String>) -> BTreeMap<String, u64> {
    let hashed = |name: String| {
        let path = directory.join(&name);
        let found = path.symlink_metadata().ok().filter(|found| !found.is_dir())?;
        let stamp = || {
            let mut hasher = DefaultHasher::new();
            (found.len(), found.mtime(), found.mtime_nsec(), found.ino()).hash(&mut hasher);
            hasher.finish()
        };
        let content = if found.len() <= LARGEST { hash(&path) } else { None };
        Some((name, content.unwrap_or_else(stamp)))
    };
    names.into_iter().filter_map(hashed).collect()
}

pub(super) fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

/// Of a plain file, or of where a link leads. Anything else could wait for ever to be read.
fn hash(path: &PathBuf) -> Option<u64> {
    let found = path.symlink_metadata().ok()?;
    let mut hasher = DefaultHasher::new();
    if found.is_symlink() {
        std::fs::read_link(path).ok()?.hash(&mut hasher);
    } else if found.is_file() {
        let mut content = Vec::new();
        // It can have grown since it was looked at.
        std::fs::File::open(path).ok()?.take(LARGEST + 1).read_to_end(&mut content).ok()?;
        (found.mode() & 0o7777, content).hash(&mut hasher);
    } else {
        return None;
    }
    Some(hasher.finish())
}
