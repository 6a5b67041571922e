//! Whether a supervisor runs on this machine.
//!
//! Invariant: each supervisor holds an exclusive lock on a file of its own, and the system releases that lock with the
//! process. A file that is not locked is stale, whatever its age.

use crate::Context;
use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

/// The lock of this process; dropped, it is released and its file removed.
#[derive(Debug)]
pub(super) struct Presence {
    path: PathBuf,
    _file: File,
}

impl Presence {
    pub(super) fn announce(context: &Context) -> io::Result<Self> {
        let directory = directory(context);
        fs::create_dir_all(&directory)?;
        for stale in files(&directory).into_iter().filter(|path| !is_locked(path)) {
            // Another supervisor that starts now may have removed it already.
            let _ = fs::remove_file(stale);
        }
        let path = directory.join(uuid::Uuid::now_v7().to_string());
        // Locked under a name that is not listed: no other process takes it for a stale one.
        let hidden = directory.join(format!(".{}", uuid::Uuid::now_v7()));
        let file = File::create(&hidden)?;
        file.lock()?;
        fs::rename(&hidden, &path)?;
        Ok(Self { path, _file: file })
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether a supervisor with this data directory runs, whatever its batch.
#[must_use]
pub fn is_supervised(context: &Context) -> bool {
    files(&directory(context)).iter().any(|path| is_locked(path))
}

fn directory(context: &Context) -> PathBuf {
    context.paths.data_dir.join("supervisors")
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
    entries.filter(|path| path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.'))).collect()
}

/// A shared lock, so that two processes that check do not take each other for a supervisor.
fn is_locked(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
}
