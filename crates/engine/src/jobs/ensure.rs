//! One runner for all jobs of a store: started by whoever has something for it, and only when there is none.
//!
//! Invariant: a job that was added while a runner was about to end is not left alone. The runner looks once more after
//! it has let go of its lock, and whoever adds a job looks at the lock after that.

use super::JobError;
use crate::Context;
use std::{fs::File, io, path::PathBuf};
use switchyard_host::{detached::spawn_detached, paths::private_dir};

fn directory(context: &Context) -> PathBuf {
    context.paths.data_dir.join("jobs")
}

/// The lock that a runner holds as long as it takes jobs. Nothing when another has it.
pub(super) fn take_lock(context: &Context) -> io::Result<Option<File>> {
    let directory = directory(context);
    private_dir(&directory)?;
    let lock = File::options().create(true).append(true).open(directory.join("runner.lock"))?;
    match lock.try_lock() {
        Ok(()) => Ok(Some(lock)),
        Err(std::fs::TryLockError::WouldBlock) => Ok(None),
        Err(std::fs::TryLockError::Error(error)) => Err(error),
    }
}

/// Whether a runner is there.
pub(super) fn has_runner(context: &Context) -> bool {
    matches!(take_lock(context), Ok(None))
}

/// Starts a runner unless there is one.
pub(super) fn ensure_runner(context: &Context) -> Result<(), JobError> {
    let started = || -> io::Result<()> {
        let Some(lock) = take_lock(context)? else { return Ok(()) };
        drop(lock);
        let directory = directory(context);
        let log = directory.join("runner.log");
        let store = context.store_path.display().to_string();
        let mut variables = context.environment.clone();
        if !context.config.server.url.is_empty() {
            // It may have been named by a flag.
            variables.insert("SWITCHYARD_OPENCODE_URL".to_owned(), context.config.server.url.clone());
        }
        let child = spawn_detached(&context.program, ["runner", &store], &variables, &directory, &log)?;
        reap(child);
        Ok(())
    };
    started()
        .map_err(|error| JobError::unavailable(format!("nobody can carry it out: {error}"), "see `switchyard doctor`"))
}

/// A child that ended stays in the table of processes until somebody asks for it.
fn reap(mut child: std::process::Child) {
    std::thread::spawn(move || drop(child.wait()));
}
