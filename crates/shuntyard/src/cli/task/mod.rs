//! `shuntyard task`: queued work that a supervisor runs until it has ended.

mod add;
mod answer;
mod bulk;
mod claim;
mod contest;
mod diff;
mod discard;
pub mod document;
mod explained;
mod list;
mod log;
mod orders;
mod show;
mod sync;
mod transcript;
mod verify;
mod wanted;
mod why;

pub use orders::who;

use super::{Global, later::Later};
use crate::failure::Failure;
use clap::{Args, Subcommand};
use shuntyard_core::work::task::TaskId;
use shuntyard_engine::Context;
use shuntyard_store::TaskRecord;
use std::process::ExitCode;

#[derive(Debug, Subcommand)]
pub enum TaskCommand {
    /// Queue a task, or many from a file; prints the id
    Add(Later<Box<add::AddArgs>>),
    /// List tasks, in the order in which they were added
    List(Later<list::ListArgs>),
    /// Show a task with its tries, its money and its receipt
    Show(Later<OneTask>),
    /// Show what happened to a task, and where its logs are
    Log(Later<log::LogArgs>),
    /// Print the work of a task as a unified diff
    Diff(Later<OneTask>),
    /// Say why a task is where it is
    Why(Later<OneTask>),
    /// Allow or deny what the agent of a task asks for: exit 3 when it waits for no answer
    Answer(Later<answer::AnswerArgs>),
    /// Check the receipt of a task again, in a fresh checkout: exit 0 when it holds, 1 when not
    Verify(Later<OneTask>),
    /// Stop tasks for good; what was done stays in their workspaces
    Cancel(Later<orders::CancelArgs>),
    /// Try tasks again, with all that was learned
    Retry(Later<orders::OrderArgs>),
    /// Begin tasks again, with nothing remembered; earlier work stays on a branch
    Reset(Later<orders::OrderArgs>),
    /// Say in TODO.md that you do a task: exit 3 when another assignee has it, 4 when the remote cannot be asked
    Claim(Later<claim::ClaimArgs>),
    /// Give a task back in TODO.md
    Unclaim(Later<claim::UnclaimArgs>),
    /// Bring TODO.md and the store together: new tasks in, what is done ticked; nothing is deleted
    Sync(Later<sync::SyncArgs>),
}

#[derive(Debug, Args)]
pub struct OneTask {
    /// The task
    id: TaskId,
}

pub async fn run(global: &Global, command: &TaskCommand) -> Result<ExitCode, Failure> {
    match command {
        TaskCommand::Add(Later(args)) => add::run(global, args).await,
        TaskCommand::List(Later(args)) => list::run(global, args).await,
        TaskCommand::Show(Later(one)) => show::run(global, &one.id).await,
        TaskCommand::Log(Later(args)) => log::run(global, args).await,
        TaskCommand::Diff(Later(one)) => diff::run(global, &one.id).await,
        TaskCommand::Why(Later(one)) => why::run(global, &one.id).await,
        TaskCommand::Answer(Later(args)) => answer::run(global, args).await,
        TaskCommand::Verify(Later(one)) => verify::run(global, &one.id).await,
        TaskCommand::Cancel(Later(args)) => orders::cancel(global, args).await,
        TaskCommand::Retry(Later(args)) => orders::retry(global, args).await,
        TaskCommand::Reset(Later(args)) => orders::reset(global, args).await,
        TaskCommand::Claim(Later(args)) => claim::claim(global, args).await,
        TaskCommand::Unclaim(Later(args)) => claim::unclaim(global, args).await,
        TaskCommand::Sync(Later(args)) => sync::run(global, args).await,
    }
}

/// The task of an id, or the refusal that there is none.
pub async fn find(context: &Context, id: &TaskId) -> Result<TaskRecord, Failure> {
    context.store.task(id).await.map_err(|error| Failure::task(error.into()))
}
