//! One runner for all jobs of a store: started by the process that has work for it, and only when there is none.
//!
//! Invariant: a job that was added while a runner was about to end is not forgotten. The runner checks once more after
//! it has released its lock, and a process that adds a job checks the lock after that.

use super::JobError;
use crate::Context;
use shuntyard_host::{detached::spawn_detached, paths::private_dir};
use std::{
    fs::File,
    io,
    path::PathBuf,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};
use tokio::time::sleep;

/// A runner that was started just now has not taken its lock yet; another beside it would only end again.
const BETWEEN_STARTS: Duration = Duration::from_secs(2);
/// A process that only checks whether there is a runner holds the lock for a moment.
const LOCK_TRIES: u32 = 20;
const LOCK_PAUSE: Duration = Duration::from_millis(25);

/// When this process last started one, and for which store.
static STARTED: Mutex<Option<(PathBuf, Instant)>> = Mutex::new(None);

fn directory(context: &Context) -> PathBuf {
    context.paths.data_dir.join("jobs")
}

/// The lock that a runner holds as long as it takes jobs. Nothing when another has it.
fn take_lock(context: &Context) -> io::Result<Option<File>> {
    let directory = directory(context);
    private_dir(&directory)?;
    let lock = File::options().create(true).append(true).open(directory.join("runner.lock"))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// The same, with some patience for processes that only check.
pub(super) async fn take_lock_soon(context: &Context) -> io::Result<Option<File>> {
    for _ in 0..LOCK_TRIES {
        if let Some(lock) = take_lock(context)? {
            return Ok(Some(lock));
        }
        sleep(LOCK_PAUSE).await;
    }
    Ok(None)
}

/// Whether a runner is there.
pub(super) fn has_runner(context: &Context) -> bool {
    matches!(take_lock(context), Ok(None))
}

/// Starts a runner unless there is one.
pub(super) fn ensure_runner(context: &Context) -> Result<(), JobError> {
    let free = take_lock(context).map_err(|error| cannot(&error))?.is_some();
    let mut started = STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    let is_recent = |(store, at): &(PathBuf, Instant)| *store == context.store_path && at.elapsed() < BETWEEN_STARTS;
    if !free || started.as_ref().is_some_and(is_recent) {
        return Ok(());
    }
    *started = Some((context.store_path.clone(), Instant::now()));
    start_another(context)
}

/// Starts a runner, whether there is one or not.
pub(super) fn start_another(context: &Context) -> Result<(), JobError> {
    let directory = directory(context);
    let log = directory.join("runner.log");
    let store = context.store_path.display().to_string();
    let mut variables = context.environment.clone();
    if !context.config.server.url.is_empty() {
        // It may have been named by a flag.
        variables.insert("SHUNTYARD_OPENCODE_URL".to_owned(), context.config.server.url.clone());
    }
    let mut child = spawn_detached(&context.program, ["runner", &store], &variables, &directory, &log)
        .map_err(|error| cannot(&error))?;
    // A child that ended stays in the table of processes until its parent waits for it.
    std::thread::spawn(move || drop(child.wait()));
    Ok(())
}

fn cannot(error: &io::Error) -> JobError {
    JobError::unavailable(format!("nobody can carry it out: {error}"), "see `shuntyard doctor`")
}
