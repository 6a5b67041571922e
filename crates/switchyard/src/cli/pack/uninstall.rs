//! `switchyard pack uninstall`.

use super::{Where, failure, install, show};
use crate::{cli::Global, failure::Failure, ui::Format};
use clap::Args;
use std::process::ExitCode;
use switchyard_engine::pack::{Run, uninstall};

#[derive(Debug, Args)]
pub struct UninstallArgs {
    #[command(flatten)]
    at: Where,
    /// Also take away files that you have changed; they are backed up
    #[arg(long)]
    force: bool,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

pub fn run(global: &Global, args: &UninstallArgs) -> Result<ExitCode, Failure> {
    let place = args.at.place(global)?;
    let run = if args.dry_run { Run::Dry } else { Run::Real };
    // What somebody has changed is theirs now: that it stays needs no question.
    let report =
        uninstall(&place, run, &mut |conflict| install::decide(conflict, args.force, false)).map_err(failure)?;
    match global.format() {
        Format::Json => show::document(&report, serde_json::json!({"dry_run": args.dry_run}), None),
        Format::People => show::uninstalled(&report, run),
    }
    Ok(ExitCode::SUCCESS)
}
