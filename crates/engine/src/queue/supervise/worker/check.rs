//! One verify command: how it is run, and with which environment.

use crate::{
    Context,
    queue::supervise::tidy::{WORKER_MARK, mark_of},
};
use shuntyard_core::{
    values::redact::redact,
    work::task::{Check, Exit},
};
use shuntyard_host::{guard::DEFAULT_GRACE, paths::private_dir, shell};
use shuntyard_store::TaskRecord;
use std::{ffi::OsString, path::PathBuf};

/// One verify command, in a directory, with its end and the end of what it printed.
pub(super) async fn run_check(
    context: &Context,
    record: &TaskRecord,
    command: String,
    directory: PathBuf,
    log: PathBuf,
) -> Result<Check, String> {
    if let Some(parent) = log.parent() {
        private_dir(parent).map_err(|error| format!("the log of a check could not be made: {error}"))?;
    }
    let check = shell::Check {
        command: command.clone(),
        directory,
        variables: variables(context, record),
        deadline: context.config.supervise.verify_timeout.0.unwrap_or(std::time::Duration::MAX),
        grace: DEFAULT_GRACE,
        log,
    };
    let own = context.program.clone();
    let checked = tokio::task::spawn_blocking(move || check.run(&own)).await.map_err(|error| error.to_string())?;
    let checked = checked.map_err(|error| format!("`{command}` could not be run: failed to {error}"))?;
    Ok(Check {
        command,
        exit: exit_of(checked.exit),
        tail: redact(&checked.tail),
        took_ms: u64::try_from(checked.took.as_millis()).unwrap_or(u64::MAX),
    })
}

pub(super) fn exit_of(exit: shell::Exit) -> Exit {
    match exit {
        shell::Exit::Code(code) => Exit::Code(code),
        shell::Exit::Signal(signal) => Exit::Signal(signal),
        shell::Exit::Deadline => Exit::Deadline,
    }
}

/// What commands of a task find in their environment: the user's, without what looks like a secret by its name, and
/// with a port of their own.
pub(super) fn variables(context: &Context, record: &TaskRecord) -> Vec<(OsString, OsString)> {
    const SECRET: [&str; 6] = ["KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL"];
    // Git's own settings come as pairs whose names have the word as well.
    let is_secret = |name: &str| {
        !name.starts_with("GIT_CONFIG_") && SECRET.iter().any(|word| name.to_ascii_uppercase().contains(word))
    };
    let mut variables: Vec<(OsString, OsString)> = context
        .environment
        .iter()
        .filter(|(name, _)| !is_secret(name))
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    let port = 20_000 + record.number.rem_euclid(2000) * 10;
    // What is verified is the commit itself, without what a ref puts in its place.
    variables.push(("GIT_NO_REPLACE_OBJECTS".into(), "1".into()));
    variables.push(("SHUNTYARD_TASK".into(), record.task.id.as_str().into()));
    variables.push(("SHUNTYARD_PORT".into(), port.to_string().into()));
    variables.push((WORKER_MARK.into(), mark_of(context, &record.task.id, record.task.epoch).into()));
    variables
}
