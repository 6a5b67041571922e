//! `shuntyard work`: the hidden process that executes one claim of a task.

use crate::{
    failure::Failure,
    settings::{Overrides, Settings},
    ui,
};
use clap::Args;
use shuntyard_core::work::task::TaskId;
use shuntyard_engine::queue::supervise::{WORKER_MARK, WorkError, work};
use shuntyard_host::detached::detach_self;
use std::{ffi::OsString, path::PathBuf, process::ExitCode};

#[derive(Debug, Args)]
pub struct WorkArgs {
    store: PathBuf,
    task: TaskId,
    epoch: i64,
}

impl WorkArgs {
    /// Parses the arguments exactly as a supervisor gives them; the parser of all commands handles everything else.
    pub fn of_supervisor(args: impl Iterator<Item = OsString>) -> Option<Self> {
        let args: Vec<OsString> = args.take(5).collect();
        let [command, store, task, epoch] = args.as_slice() else { return None };
        (command == "work").then_some(())?;
        Some(Self {
            store: PathBuf::from(store),
            task: task.to_str()?.parse().ok()?,
            epoch: epoch.to_str()?.parse().ok()?,
        })
    }
}

pub fn run(args: &WorkArgs) -> Result<ExitCode, Failure> {
    detach_self().map_err(|error| Failure::unavailable("host", error, "see the task's log"))?;
    super::block_on(async {
        let mut settings = Settings::load(&Overrides::default())?;
        // The keeper of a server that this worker starts serves other processes too, and must not be taken for a part
        // of it.
        settings.environment.remove(WORKER_MARK);
        let context = settings.into_context_with(args.store.clone()).await?;
        match work(&context, &args.task, args.epoch).await {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error @ WorkError::Over) => {
                ui::complain(&error.to_string());
                Ok(ExitCode::from(3))
            }
            Err(error) => Err(Failure::failed(error, "see `shuntyard task log`")),
        }
    })
}
