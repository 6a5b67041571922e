//! Looking at files again and again, where the system reports no changes.

use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::time::Instant;

const STEP: Duration = Duration::from_millis(20);
/// A file's time moves in steps of some milliseconds. A second write in the same step shows only in the content, so
/// each change is reported once more when the step must be over.
const SETTLED: Duration = Duration::from_millis(40);

#[derive(Debug)]
pub(super) struct Polled {
    files: Vec<(PathBuf, Option<Stamp>)>,
    once_more: Option<Instant>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let found = path.metadata().ok()?;
        Some(Self {
            device: found.dev(),
            inode: found.ino(),
            size: found.size(),
            modified: (found.mtime(), found.mtime_nsec()),
            changed: (found.ctime(), found.ctime_nsec()),
        })
    }
}

impl Polled {
    pub(super) fn new(files: &[PathBuf]) -> Self {
        let files = files.iter().map(|file| (file.clone(), Stamp::of(file))).collect();
        // A write just after this read can be in the same step as one just before it.
        Self { files, once_more: Some(Instant::now() + SETTLED) }
    }

    pub(super) async fn changed(&mut self) {
        loop {
            if self.looks_different() {
                self.once_more = Some(Instant::now() + SETTLED);
                return;
            }
            if self.once_more.is_some_and(|moment| Instant::now() >= moment) {
                self.once_more = None;
                return;
            }
            tokio::time::sleep(STEP).await;
        }
    }

    fn looks_different(&mut self) -> bool {
        let mut different = false;
        for (path, known) in &mut self.files {
            let found = Stamp::of(path);
            different |= found != *known;
            *known = found;
        }
        different
    }
}
