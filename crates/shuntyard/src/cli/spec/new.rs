//! `shuntyard spec new`: a directory with the next number, and a spec to fill in.

use super::{Where, place};
use crate::{
    cli::Global,
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_core::roles::spec::{BadSlug, Slug};
use shuntyard_engine::roles::spec::{Created, NewError, NewTask, Run, create};
use std::process::ExitCode;

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard spec new add-export --title \"Export as CSV\"
  shuntyard spec new rework-import --unit parser --unit writer
  shuntyard spec new add-export --dry-run")]
pub struct NewArgs {
    /// What the task is called: small letters, digits and hyphens
    id: String,
    /// The heading of the spec; made of the id by default
    #[arg(long)]
    title: Option<String>,
    /// A unit of the task, with a spec of its own; may be repeated
    #[arg(long, value_name = "SLUG")]
    unit: Vec<String>,
    #[command(flatten)]
    at: Where,
    /// Only say what would be made
    #[arg(long)]
    dry_run: bool,
}

pub fn run(global: &Global, args: &NewArgs) -> Result<ExitCode, Failure> {
    let (repository, _) = args.at.place()?;
    let units: Result<Vec<Slug>, Failure> = args.unit.iter().map(|unit| slug(unit)).collect();
    let title = args.title.clone().filter(|title| !title.trim().is_empty());
    let new = NewTask { id: slug(&args.id)?, title, units: units? };
    let run = if args.dry_run { Run::Dry } else { Run::Real };
    let created = create(&repository, &new, run).map_err(failure)?;
    match global.format() {
        Format::Json => ui::json(&json!({
            "id": created.name.to_string(), "number": created.name.number, "path": created.directory,
            "files": created.files, "dry_run": args.dry_run,
        })),
        Format::People => show(&created, run),
    }
    Ok(ExitCode::SUCCESS)
}

fn show(created: &Created, run: Run) {
    match run {
        Run::Dry => created.files.iter().for_each(|file| ui::result(&format!("would write {file}"))),
        Run::Real => {
            ui::result(&created.directory);
            ui::note(&format!(
                "fill in {}, then run `shuntyard spec check {}`",
                created.files.join(", "),
                created.name
            ));
        }
    }
}

fn slug(text: &str) -> Result<Slug, Failure> {
    text.parse().map_err(|bad: BadSlug| {
        let hint = bad.hint();
        Failure::usage(bad, hint)
    })
}

fn failure(error: NewError) -> Failure {
    match error {
        NewError::Place(error) => place(error),
        NewError::UnitTwice(_) => Failure::usage(error, "name each unit once"),
        NewError::TooManyUnits(_) => Failure::usage(error, "make several tasks of it"),
        NewError::NoNumber => Failure::usage(error, "rename the directory in .ai/tasks with the highest number"),
        NewError::Contended => Failure::unavailable("host", error, "try again"),
        NewError::Io { .. } => {
            Failure::unavailable("host", error, "look at who may write there, and at the space left")
        }
    }
}
