//! Deleting refs in the user's repository.
//!
//! Invariant: git locks all packed refs for it. A file of ours is there for as long as that may be, so that a lock that
//! a killed git left is removed by the next call, and the lock of another program is not.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use super::{Git, GitError, within};
use crate::bounded::wait_until;
use crate::process::ProcessIdentity;

/// The file is called so, and then by the process that deletes.
const MARK: &str = "shuntyard-deletion-";
const LOCKS: [&str; 2] = ["packed-refs.lock", "reftable/tables.list.lock"];
/// Another program has such a lock for milliseconds, and a git that outlived its process is done by then, too.
const PATIENCE: Duration = Duration::from_secs(3);

impl Git {
    /// Deletes a ref that is at this commit, or wherever it is.
    pub(super) fn delete_ref(&self, repository: &Path, name: &str, at: Option<&str>) -> Result<(), GitError> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let common = self.common_directory(repository)?;
        remove_deletion_locks(&common);
        let failed = |source| GitError::Lock { path: common.clone(), source };
        let own = ProcessIdentity::current().map_err(failed)?;
        let mark = format!("{MARK}{}-{}-{}", own.pid, own.start, COUNT.fetch_add(1, Ordering::Relaxed));
        let mark = common.join(mark);
        fs::write(&mark, "").map_err(failed)?;
        let words: Vec<&str> = ["update-ref", "-d", "--end-of-options", name].into_iter().chain(at).collect();
        let deleted = self.succeed(&within(repository, &words)).map(drop);
        if deleted.is_err() {
            remove_locks_since(&common, &mark);
        }
        drop(fs::remove_file(&mark));
        deleted
    }
}

/// Locks of deletions whose process has died.
pub(super) fn remove_deletion_locks(common: &Path) {
    for entry in fs::read_dir(common).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let Some(process) = name.strip_prefix(MARK).and_then(process_of) else { continue };
        if !process.is_alive() {
            remove_locks_since(common, &entry.path());
            drop(fs::remove_file(entry.path()));
        }
    }
}

fn process_of(name: &str) -> Option<ProcessIdentity> {
    let mut numbers = name.split('-');
    let (pid, start) = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
    Some(ProcessIdentity { pid, start })
}

/// Removes a lock that is not older than the mark and stays.
fn remove_locks_since(common: &Path, mark: &Path) {
    let modified = |path: &PathBuf| path.symlink_metadata().and_then(|found| found.modified()).ok();
    let since = modified(&mark.to_owned());
    for lock in LOCKS.map(|name| common.join(name)) {
        let Some(made) = modified(&lock).filter(|made| since.is_some_and(|since| *made >= since)) else { continue };
        let replaced = wait_until(PATIENCE, || Ok((modified(&lock) != Some(made)).then_some(())));
        if matches!(replaced, Ok(None))
            && let Err(error) = fs::remove_file(&lock)
        {
            tracing::warn!(%error, lock = %lock.display(), "a lock that a killed git left was not removed");
        }
    }
}
