//! `switchyard pack restore`.

use super::{Where, failure, show};
use crate::{
    cli::Global,
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use std::process::ExitCode;
use switchyard_engine::pack::{Run, backups, restore};

#[derive(Debug, Args)]
pub struct RestoreArgs {
    /// The backup, or the beginning of its name; the newest by default
    #[arg(value_name = "TIMESTAMP")]
    name: Option<String>,
    #[command(flatten)]
    at: Where,
    /// List the backups in place of putting one back
    #[arg(long)]
    list: bool,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

pub fn run(global: &Global, args: &RestoreArgs) -> Result<ExitCode, Failure> {
    let place = args.at.place(global)?;
    if args.list {
        let found = backups(&place);
        match global.format() {
            Format::Json => ui::json(&json!({"target": place.root(), "backups": found})),
            Format::People => show::backups(&found),
        }
        return Ok(ExitCode::SUCCESS);
    }
    let run = if args.dry_run { Run::Dry } else { Run::Real };
    let report = restore(&place, args.name.as_deref(), run).map_err(failure)?;
    match global.format() {
        Format::Json => show::document(&report, json!({"dry_run": args.dry_run}), None),
        Format::People => show::restored(&report, run),
    }
    Ok(ExitCode::SUCCESS)
}
