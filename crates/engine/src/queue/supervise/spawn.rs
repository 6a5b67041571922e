//! Starting workers: small processes of their own, that outlive the process that started them.

use super::tidy::{WORKER_MARK, mark_of};
use crate::Context;
use shuntyard_core::work::task::TaskId;
use shuntyard_host::{detached::spawn_detached, paths::private_dir};
use std::{io, path::PathBuf, process::Child};

/// Where a task's logs are.
pub fn log_dir(context: &Context, id: &TaskId) -> PathBuf {
    context.paths.data_dir.join("tasks").join(id.as_str())
}

/// The worker's own talk, and what a command prints.
pub fn log_file(context: &Context, id: &TaskId, epoch: i64) -> PathBuf {
    log_dir(context, id).join(format!("{epoch}.log"))
}

/// What the agent of an attempt did, one JSON object on each line.
pub fn transcript_file(context: &Context, id: &TaskId, epoch: i64) -> PathBuf {
    log_dir(context, id).join(format!("{epoch}.transcript"))
}

/// The worker of one claim.
pub(crate) fn spawn_worker(context: &Context, id: &TaskId, epoch: i64) -> io::Result<Child> {
    let directory = log_dir(context, id);
    private_dir(&directory)?;
    let arguments = ["work".to_owned(), context.store_path.display().to_string(), id.to_string(), epoch.to_string()];
    let mut variables = context.environment.clone();
    variables.insert(WORKER_MARK.to_owned(), mark_of(context, id, epoch));
    // From a directory without settings of its own: what a worker runs with is not for a repository to say.
    spawn_detached(&context.program, arguments, &variables, &context.paths.data_dir, &log_file(context, id, epoch))
}
