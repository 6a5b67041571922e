//! Doing the steps of a plan.

use super::{Change, ServiceError, Step, cron, tools::Tools};
use shuntyard_host::{
    bounded::wait_until,
    paths::{private_dir, write_private},
};
use std::{fs, path::Path, time::Duration};

/// How long a service may take to end.
const PATIENCE: Duration = Duration::from_secs(10);

/// Does the steps one after the other; the first that fails ends it. Installing again goes on from there.
pub(super) fn perform(change: &Change, tools: &Tools, mode: super::Mode) -> Result<(), ServiceError> {
    if mode == super::Mode::Show {
        return Ok(());
    }
    change.steps.iter().try_for_each(|step| step.perform(tools))
}

impl Step {
    fn perform(&self, tools: &Tools) -> Result<(), ServiceError> {
        match self {
            Self::Directory(path) => private_dir(path).map_err(failing("make", path)),
            Self::Write { path, text } => {
                if let Some(directory) = path.parent() {
                    fs::create_dir_all(directory).map_err(failing("make", directory))?;
                }
                write_private(path, text.as_bytes()).map_err(failing("write", path))
            }
            Self::Remove(path) => fs::remove_file(path).map_err(failing("remove", path)),
            Self::Run(command) => Ok(tools.run(command).map(drop)?),
            Self::Retry(command) => {
                let mut last = tools.run(command);
                // A failure is an answer here, so there is nothing that could end the waiting early.
                let _ = wait_until(PATIENCE, || {
                    if last.as_ref().is_err_and(|error| !error.is_missing()) {
                        last = tools.run(command);
                    }
                    Ok(last.is_ok().then_some(()))
                });
                Ok(last.map(drop)?)
            }
            Self::Crontab { before, after, shown } => cron::replace(tools, before, after, shown),
        }
    }
}

fn failing(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> ServiceError {
    let path = path.to_owned();
    move |source| ServiceError::File { what, path, source }
}
