//! What a directory takes on the disk beyond what it shares with other directories.

use std::{fs, os::unix::fs::MetadataExt as _, path::Path};

/// The size of a block as `stat` counts them, whatever the file system has.
const BLOCK: f64 = 512.0;

/// Allocated megabytes below a directory. A file with further hard links is shared, and is not counted.
pub fn own_megabytes(directory: &Path) -> f64 {
    let found = directory.symlink_metadata().expect("it is there");
    let mut blocks = found.blocks();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).expect("a directory") {
            let entry = entry.expect("an entry");
            let found = entry.metadata().expect("it is there");
            if found.is_dir() {
                open.push(entry.path());
            }
            if found.is_dir() || found.nlink() == 1 {
                blocks += found.blocks();
            }
        }
    }
    #[expect(clippy::cast_precision_loss, reason = "a count of blocks is far below the limit")]
    let blocks = blocks as f64;
    blocks * BLOCK / 1_000_000.0
}
