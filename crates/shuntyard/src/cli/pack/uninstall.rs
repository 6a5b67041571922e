//! `shuntyard pack uninstall`.

use super::{Where, failure, install, show, visible};
use crate::{
    cli::Global,
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use shuntyard_engine::roles::pack::{Change, Run, uninstall};
use std::process::ExitCode;

#[derive(Debug, Args)]
pub struct UninstallArgs {
    #[command(flatten)]
    at: Where,
    /// Also take away files that you have changed, or whose backup is gone; they are backed up
    #[arg(long)]
    force: bool,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

pub fn run(global: &Global, args: &UninstallArgs) -> Result<ExitCode, Failure> {
    let place = args.at.place(global)?;
    let run = if args.dry_run { Run::Dry } else { Run::Real };
    // A file that was changed after the install belongs to the user: it stays without a question.
    let report =
        uninstall(&place, run, &mut |conflict| install::decide(conflict, args.force, false)).map_err(failure)?;
    let lost = report.files.iter().filter(|file| file.change == Change::KeptLost);
    let lost: Vec<String> = lost.map(|file| visible::line(&file.path)).collect();
    let refusal = (!lost.is_empty()).then(|| {
        let message =
            format!("what was in {} before the pack is in no backup any more, so that it stays", lost.join(", "));
        Failure::refused(message, "remove it yourself if nothing needs it; --force takes it away with the rest")
    });
    match global.format() {
        Format::Json => show::document(&report, serde_json::json!({"dry_run": args.dry_run}), refusal.as_ref()),
        Format::People => show::uninstalled(&report, run),
    }
    if let (Some(refusal), Format::People) = (&refusal, global.format()) {
        ui::failure(refusal, Format::People);
    }
    Ok(refusal.map_or(ExitCode::SUCCESS, |refusal| ExitCode::from(refusal.exit as u8)))
}
