//! `shuntyard task answer`: whether the agent of a task may do what it asks for.

use super::{document::Whole, who};
use crate::{
    cli::Global,
    failure::Failure,
    ui::{self, Format},
};
use clap::{Args, builder::PossibleValuesParser, builder::TypedValueParser as _};
use shuntyard_core::{
    values::clean_line,
    work::task::{PermissionReply, TaskId},
};
use shuntyard_engine::queue::supervise::{self as engine, AnswerError};
use std::process::ExitCode;

const ROOM: usize = 200;

#[derive(Debug, Args)]
pub struct AnswerArgs {
    /// The task
    id: TaskId,
    /// This once, this and the like for the rest of the task, or not
    #[arg(value_parser = PossibleValuesParser::new(["allow", "always", "deny"]).try_map(|word| word.parse::<PermissionReply>()))]
    answer: PermissionReply,
    /// Only if this is the request that it waits for, as `task show --json` has it in `request.id`
    #[arg(long, value_name = "ID")]
    request: Option<String>,
    /// Say what would be answered, and answer nothing
    #[arg(long)]
    dry_run: bool,
}

pub async fn run(global: &Global, args: &AnswerArgs) -> Result<ExitCode, Failure> {
    // An agent's shell must not be a way around the question that it was asked.
    if crate::inside::is_inside() {
        let hint = format!("run `shuntyard task answer {} {}` in a terminal of your own", args.id, args.answer);
        return Err(Failure::refused("permissions are answered by a person, not by an agent", hint));
    }
    let context = global.context().await?;
    if args.dry_run {
        let record = super::find(&context, &args.id).await?;
        let request =
            engine::open_request(&record, args.request.as_deref()).map_err(|error| failure(&args.id, error))?;
        match global.format() {
            Format::Json => ui::json(&Whole::of(&context, record).await?.document()),
            Format::People => {
                let shown = clean_line(&request.shown(), ROOM);
                ui::result(&format!("{} would be answered {}: {shown}", args.id, args.answer));
            }
        }
        return Ok(ExitCode::SUCCESS);
    }
    let by = who(&context);
    let answered = engine::answer(&context, &args.id, args.request.as_deref(), args.answer, &by).await;
    let (record, request) = answered.map_err(|error| failure(&args.id, error))?;
    match global.format() {
        Format::Json => ui::json(&Whole::of(&context, record).await?.document()),
        Format::People => {
            ui::result(&format!("{}: {}: {}", args.id, args.answer, clean_line(&request.shown(), ROOM)));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn failure(id: &TaskId, error: AnswerError) -> Failure {
    match error {
        AnswerError::Change(error) => Failure::task(error),
        AnswerError::OtherRequest { .. } => Failure::refused(
            error,
            format!("look at it with `shuntyard task show {id}`, then answer without --request"),
        ),
        AnswerError::NotAsking { .. } | AnswerError::Answered(_) | AnswerError::Late(_) => {
            Failure::refused(error, "see which tasks wait for an answer with `shuntyard status`")
        }
    }
}
