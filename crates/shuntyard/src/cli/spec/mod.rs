//! `shuntyard spec`: the task artifacts below `.ai/tasks`. Configuration, store and OpenCode are needed only to run
//! them; an existing store is read to show the progress.

mod check;
mod new;
mod run;
mod status;
mod test;

use super::{Global, input};
use crate::failure::Failure;
use clap::{Args, Subcommand};
use shuntyard_engine::roles::spec::{Place, PlaceError, ReadError};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

#[derive(Debug, Subcommand)]
pub enum SpecCommand {
    /// Make the directory of a new task with a spec to fill in; prints it
    New(new::NewArgs),
    /// Check specs, handoffs and reports: exit 1 when there are faults
    Check(check::CheckArgs),
    /// Show how far tasks are, by their files, and what the store knows of their work
    Status(status::StatusArgs),
    /// Have the work of a spec done: each role as a supervised task, the validator last
    Run(Box<run::RunArgs>),
    /// Run the project's tests, by the commands of the configuration or of .ai/context.md
    Test(test::TestArgs),
}

#[derive(Debug, Args)]
struct Where {
    /// The repository that has .ai; that of the current directory by default
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
}

impl Where {
    /// The repository, and the directory that paths begin at.
    fn place(&self) -> Result<(Place, PathBuf), Failure> {
        let here = input::directory(self.dir.as_ref())?;
        Ok((Place::of(&here).map_err(|error| elsewhere(error, &here))?, here))
    }
}

pub async fn run(global: &Global, command: &SpecCommand) -> Result<ExitCode, Failure> {
    match command {
        SpecCommand::New(args) => new::run(global, args),
        SpecCommand::Check(args) => check::run(global, args),
        SpecCommand::Status(args) => status::run(global, args).await,
        SpecCommand::Run(args) => run::run(global, args).await,
        SpecCommand::Test(args) => test::run(global, args).await,
    }
}

/// A directory that was named wrongly is wrong usage, and no error of the machine.
fn elsewhere(error: PlaceError, directory: &Path) -> Failure {
    match error {
        PlaceError::Io { source, .. } => {
            Failure::usage(format!("{}: {source}", directory.display()), "name a directory with --dir")
        }
        PlaceError::NotDirectory(_)
        | PlaceError::Missing { .. }
        | PlaceError::Dangling { .. }
        | PlaceError::Outside { .. } => place(error),
    }
}

fn place(error: PlaceError) -> Failure {
    match &error {
        PlaceError::Missing { .. } => {
            Failure::usage(error, "begin with `shuntyard spec new ID`, or name another repository with --dir")
        }
        PlaceError::NotDirectory(_) => {
            Failure::usage(error, "make it a directory, or name another repository with --dir")
        }
        PlaceError::Dangling { .. } => Failure::usage(error, "fix the link, or make it a directory"),
        PlaceError::Outside { .. } => {
            Failure::refused(error, "make it a directory in the repository, or name the other one with --dir")
        }
        PlaceError::Io { .. } => Failure::unavailable("host", error, "look at who may read and write there"),
    }
}

fn read(error: ReadError) -> Failure {
    match error {
        ReadError::Place(error) => place(error),
        ReadError::NotFound { ref near, .. } => {
            let hint = match near.as_slice() {
                [] => "see what there is with `shuntyard spec status`".to_owned(),
                names => format!("did you mean {}? `shuntyard spec status` lists all", names.join(" or ")),
            };
            Failure::usage(error, hint)
        }
        ReadError::Ambiguous { .. } => Failure::usage(error, "name it with its number"),
    }
}
