//! Starting workers: small processes of their own, that outlive whoever started them.

use super::tidy::{WORKER_MARK, mark_of, standby_mark};
use crate::Context;
use shuntyard_core::work::task::TaskId;
use shuntyard_host::{detached::spawn_detached, paths::private_dir};
use std::{
    fs::{OpenOptions, Permissions},
    io,
    os::{
        fd::OwnedFd,
        unix::{
            fs::{OpenOptionsExt as _, PermissionsExt as _},
            net::{UnixDatagram, UnixStream},
        },
    },
    path::PathBuf,
    process::{Child, Command},
};

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

/// A worker that stands by, with its guard above it, and the connection over which it is ordered. That ends with this
/// process, and then so does the worker, as soon as it has nothing to do.
pub(super) fn spawn_standby(context: &Context, batch: Option<&str>) -> io::Result<(Child, UnixStream)> {
    private_dir(&context.paths.data_dir.join("tasks"))?;
    let log = context.paths.data_dir.join("tasks").join("standby.log");
    let log = OpenOptions::new().append(true).create(true).mode(0o600).open(log)?;
    log.set_permissions(Permissions::from_mode(0o600))?;
    let (ours, theirs) = UnixStream::pair()?;
    let mut command = Command::new(&context.program);
    command.arg("work").arg(&context.store_path).args(batch.into_iter().flat_map(|batch| ["--batch", batch]));
    command.env_clear().envs(&context.environment).env(WORKER_MARK, standby_mark(context));
    command.current_dir(&context.paths.data_dir);
    // A guard ends all when its input does. Nobody can write to this, and nobody can end it.
    command.stdin(OwnedFd::from(UnixDatagram::unbound()?)).stdout(OwnedFd::from(theirs)).stderr(log);
    Ok((command.spawn()?, ours))
}
