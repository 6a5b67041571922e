//! `switchyard work`: the hidden process that carries out one claim of a task.

use crate::{
    failure::Failure,
    settings::{Overrides, Settings},
    ui,
};
use clap::Args;
use std::{ffi::OsString, path::PathBuf, process::ExitCode};
use switchyard_core::task::TaskId;
use switchyard_engine::supervise::{WORKER_MARK, WorkError, work};

#[derive(Debug, Args)]
pub struct WorkArgs {
    task: TaskId,
    epoch: i64,
    store: PathBuf,
}

impl WorkArgs {
    /// The arguments just as a supervisor gives them; for anything else there is the parser of all commands.
    pub fn of_supervisor(args: impl Iterator<Item = OsString>) -> Option<Self> {
        let args: Vec<OsString> = args.take(5).collect();
        let [command, task, epoch, store] = args.as_slice() else { return None };
        let [task, epoch] = [task.to_str()?, epoch.to_str()?];
        (command == "work").then_some(())?;
        Some(Self { task: task.parse().ok()?, epoch: epoch.parse().ok()?, store: PathBuf::from(store) })
    }
}

pub fn run(args: &WorkArgs) -> Result<ExitCode, Failure> {
    switchyard_host::detached::detach_self()
        .map_err(|error| Failure::unavailable("host", error, "see the task's log"))?;
    super::block_on(async {
        let mut settings = Settings::load(&Overrides::default())?;
        // The keeper of a server that this worker starts serves others too, and must not be taken for a part of it.
        settings.environment.remove(WORKER_MARK);
        let context = settings.into_context_with(args.store.clone()).await?;
        match work(&context, &args.task, args.epoch).await {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error @ WorkError::Over) => {
                ui::complain(&error.to_string());
                Ok(ExitCode::from(3))
            }
            Err(error) => Err(Failure::failed(error, "see `switchyard task log`")),
        }
    })
}
