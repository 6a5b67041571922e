//! The objects that were made in a repository since it was cloned, by their files: commits are among them that no ref
//! and no log leads to, as after `git stash drop` or without a reflog.
//!
//! Nothing is looked up in git for it, so it costs no call. What a clone shares with its source has a second name
//! on the disk and is older than the clone.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::IDENTITY;
use super::tips::is_hex;

/// A larger file is no commit.
const LARGEST: u64 = 64 << 10;
/// In an index of a pack: a magic number, the version, and how many names begin with each byte or a smaller one.
const INDEX_HEADER: usize = 8 + 256 * 4;
/// A larger index comes from a fetch or from packing all there is. Git keeps what is unreachable apart from that.
const LARGEST_INDEX: u64 = 4 << 20;
/// More are not looked at.
const MOST: usize = 100_000;

/// Names of objects with as many digits as `like`.
pub(super) fn made_objects(git_dir: &Path, like: &str) -> Vec<String> {
    let objects = git_dir.join("objects");
    let cloned = git_dir.join(IDENTITY).metadata().map_or(0, |found| found.mtime());
    let is_new = |found: &Metadata| found.nlink() == 1 || found.mtime() >= cloned;
    let mut made = Vec::new();
    for (directory, name) in entries(&objects).filter(|(_, name)| name.len() == 2 && is_hex(name)) {
        for (file, rest) in entries(&directory).filter(|(_, rest)| rest.len() + 2 == like.len() && is_hex(rest)) {
            let found = file.symlink_metadata().ok();
            if found.is_some_and(|found| found.is_file() && (1..LARGEST).contains(&found.len()) && is_new(&found)) {
                made.push(format!("{name}{rest}"));
            }
        }
    }
    for (file, _) in entries(&objects.join("pack")).filter(|(_, name)| name.ends_with(".idx")) {
        let is_unreachable = file.with_extension("mtimes").exists();
        let found = file.symlink_metadata().ok().filter(Metadata::is_file);
        if found.is_some_and(|found| is_new(&found) && (is_unreachable || found.len() < LARGEST_INDEX)) {
            made.extend(names_in(&fs::read(&file).unwrap_or_default(), like.len() / 2));
        }
    }
    made.truncate(MOST);
    made
}

fn entries(directory: &Path) -> impl Iterator<Item = (std::path::PathBuf, String)> {
    let found = fs::read_dir(directory).into_iter().flatten().flatten();
    found.map(|entry| (entry.path(), entry.file_name().to_string_lossy().into_owned()))
}

/// The names in an index of a pack, in its second version; of any other none.
fn names_in(index: &[u8], bytes: usize) -> Vec<String> {
    let (Some(b"\xfftOc\0\0\0\x02"), Some(count)) = (index.get(..8), index.get(INDEX_HEADER - 4..INDEX_HEADER)) else {
        return Vec::new();
    };
    let count = count.iter().fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
    let names = index[INDEX_HEADER..].chunks_exact(bytes).take(count);
    names.map(|name| name.iter().map(|byte| format!("{byte:02x}")).collect()).collect()
}
