//! `shuntyard work`: the hidden process that carries out one claim of a task, or stands by for one after the other.

use crate::{
    failure::Failure,
    settings::{Overrides, Settings},
    ui,
};
use clap::Args;
use shuntyard_core::work::task::TaskId;
use shuntyard_engine::{
    Context,
    queue::supervise::{WORKER_MARK, WorkError, stand_by, work},
};
use shuntyard_host::{
    detached::detach_self,
    guard::{DEFAULT_GRACE, own_executable, run_guard},
};
use std::{
    ffi::OsString,
    io,
    os::{fd::AsFd as _, unix::net::UnixStream},
    path::PathBuf,
    process::ExitCode,
};

/// What a worker that stands by is told by its guard.
const GUARDED: &str = "--guarded";

#[derive(Debug, Args)]
pub struct WorkArgs {
    store: PathBuf,
    /// Without one it stands by
    #[arg(requires = "epoch")]
    task: Option<TaskId>,
    epoch: Option<i64>,
    /// Take only tasks of this batch
    #[arg(long)]
    batch: Option<String>,
    /// There is a guard already
    #[arg(long)]
    guarded: bool,
}

impl WorkArgs {
    /// The arguments just as a supervisor gives them; for anything else there is the parser of all commands.
    pub fn of_supervisor(args: impl Iterator<Item = OsString>) -> Option<Self> {
        let args: Vec<OsString> = args.take(6).collect();
        let (command, args) = args.split_first()?;
        (command == "work").then_some(())?;
        let (store, rest) = args.split_first()?;
        let words: Vec<&str> = rest.iter().map(|word| word.to_str()).collect::<Option<_>>()?;
        let standby = Self { store: PathBuf::from(store), task: None, epoch: None, batch: None, guarded: false };
        match words.as_slice() {
            [] => Some(standby),
            [GUARDED] => Some(Self { guarded: true, ..standby }),
            ["--batch", batch] => Some(Self { batch: Some((*batch).to_owned()), ..standby }),
            ["--batch", batch, GUARDED] => Some(Self { batch: Some((*batch).to_owned()), guarded: true, ..standby }),
            [task, epoch] => Some(Self { task: Some(task.parse().ok()?), epoch: Some(epoch.parse().ok()?), ..standby }),
            _ => None,
        }
    }
}

pub fn run(args: &WorkArgs) -> Result<ExitCode, Failure> {
    match (&args.task, args.epoch) {
        (Some(task), Some(epoch)) => {
            detach_self().map_err(host)?;
            block_on(args, async |context| work(&context, task, epoch).await)
        }
        _ if args.guarded => {
            let supervisor = supervisor().map_err(host)?;
            block_on(args, async |context| stand_by(&context, args.batch.as_deref(), supervisor).await)
        }
        _ => guard(args),
    }
}

fn host(error: io::Error) -> Failure {
    Failure::unavailable("host", error, "see the task's log")
}

fn block_on(args: &WorkArgs, work: impl AsyncFnOnce(Context) -> Result<(), WorkError>) -> Result<ExitCode, Failure> {
    super::block_on(async {
        let mut settings = Settings::load(&Overrides::default())?;
        // The keeper of a server that this worker starts serves others too, and must not be taken for a part of it.
        settings.environment.remove(WORKER_MARK);
        let context = settings.into_context_with(args.store.clone()).await?;
        match work(context).await {
            Ok(()) => Ok(ExitCode::SUCCESS),
            Err(error @ WorkError::Over) => {
                ui::complain(&error.to_string());
                Ok(ExitCode::from(3))
            }
            Err(error) => Err(Failure::failed(error, "see `shuntyard task log`")),
        }
    })
}

/// The guard of a worker that stands by: whatever ends the worker, nothing of its commands is left.
fn guard(args: &WorkArgs) -> Result<ExitCode, Failure> {
    detach_self().map_err(host)?;
    let program = std::env::current_exe().map_err(host)?;
    let mut again: Vec<OsString> = vec!["work".into(), args.store.clone().into()];
    again.extend(args.batch.iter().flat_map(|batch| ["--batch".into(), batch.into()]));
    again.push(GUARDED.into());
    let own = own_executable().map_err(host)?;
    let code = run_guard(&own, DEFAULT_GRACE, program.into(), again)
        .map_err(|error| Failure::unavailable("host", error, "see the task's log"))?;
    Ok(ExitCode::from(u8::try_from(code).unwrap_or(1)))
}

/// The connection to the supervisor is where others have their output.
fn supervisor() -> io::Result<UnixStream> {
    let connection = io::stdout().as_fd().try_clone_to_owned()?;
    Ok(UnixStream::from(connection))
}
