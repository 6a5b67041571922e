//! `shuntyard pack restore`.

use super::{Where, failure, install, show};
use crate::{
    cli::Global,
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use serde_json::json;
use shuntyard_engine::roles::pack::{Conflict, Run, backups, restore};
use std::process::ExitCode;

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
    /// Also put back what you have changed since; it is backed up
    #[arg(long)]
    force: bool,
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
    let asks = run == Run::Real && global.format() == Format::People && install::talks();
    let mut decide = |conflict: &Conflict<'_>| install::decide(conflict, args.force, asks);
    let report = restore(&place, args.name.as_deref(), run, &mut decide).map_err(failure)?;
    let refusal = install::kept(&report).map(|names| {
        let message = format!("{names} cannot be put back without losing what is there now, so that it stays");
        Failure::refused(message, "put it back all the same with --force, where its backup is still there")
    });
    match global.format() {
        Format::Json => show::document(&report, json!({"dry_run": args.dry_run}), refusal.as_ref()),
        Format::People => show::restored(&report, run),
    }
    if let (Some(refusal), Format::People) = (&refusal, global.format()) {
        ui::failure(refusal, Format::People);
    }
    Ok(refusal.map_or(ExitCode::SUCCESS, |refusal| ExitCode::from(refusal.exit as u8)))
}
