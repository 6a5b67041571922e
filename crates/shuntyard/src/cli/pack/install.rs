//! `shuntyard pack install` and `shuntyard pack diff`.

use super::{
    What, Where,
    age::{Standing, standing},
    failure, settings_here, show, visible,
};
use crate::{
    cli::Global,
    failure::Failure,
    pack::{Form, bundle},
    ui::{self, Format},
};
use clap::Args;
use shuntyard_engine::roles::pack::{Answer, Change, Conflict, Install, Report, Run, install};
use std::{
    collections::BTreeMap,
    io::{BufRead, IsTerminal},
    path::PathBuf,
    process::ExitCode,
};

#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  shuntyard pack install
  shuntyard pack install --project --mcp
  shuntyard pack install --only commands --dry-run")]
pub struct InstallArgs {
    #[command(flatten)]
    at: Where,
    #[command(flatten)]
    what: What,
    /// Also replace files that you have written or changed; they are backed up
    #[arg(long)]
    force: bool,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, Args)]
pub struct DiffArgs {
    #[command(flatten)]
    at: Where,
    #[command(flatten)]
    what: What,
}

pub fn run(global: &Global, args: &InstallArgs) -> Result<ExitCode, Failure> {
    let run = if args.dry_run { Run::Dry } else { Run::Real };
    let force = args.force;
    let asks = run == Run::Real && global.format() == Format::People && talks();
    let report = perform(global, &args.at, &args.what, run, &mut |conflict| decide(conflict, force, asks))?;
    let form = args.what.form();
    if form == Form::V2 && global.format() == Format::People {
        ui::warn("OpenCode 1 does not read this form, and would allow these agents nearly everything");
    }
    let refusal = kept(&report).map(|names| {
        let message = format!("you have written or changed {names}, so that it stays");
        let mixed = report.files.iter().any(|file| file.note.is_some());
        let hint = if mixed {
            "move away what OpenCode mixes with the pack, and replace the rest with --force, or leave it as it is"
        } else {
            "look at the difference, then replace it with --force, or leave it as it is"
        };
        Failure::refused(message, hint)
    });
    let facts = serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"), "format": form.as_str(), "dry_run": args.dry_run,
    });
    match global.format() {
        Format::Json => show::document(&report, facts, refusal.as_ref()),
        Format::People => show::installed(&report, run),
    }
    if let (Some(refusal), Format::People) = (&refusal, global.format()) {
        ui::failure(refusal, Format::People);
    }
    Ok(refusal.map_or(ExitCode::SUCCESS, |refusal| ExitCode::from(refusal.exit as u8)))
}

pub fn diff(global: &Global, args: &DiffArgs) -> Result<ExitCode, Failure> {
    let report = perform(global, &args.at, &args.what, Run::Dry, &mut |_| Answer::Keep)?;
    let there = standing(global, &args.at)?;
    let installed = there.as_ref().map(Standing::document);
    match global.format() {
        Format::Json => show::document(&report, serde_json::json!({"dry_run": true, "installed": installed}), None),
        Format::People => {
            show::difference(&report);
            if let Some(there) = &there {
                there.tell();
                there.tell_form(args.what.form());
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn perform(
    global: &Global,
    at: &Where,
    what: &What,
    run: Run,
    decide: &mut dyn FnMut(&Conflict<'_>) -> Answer,
) -> Result<Report, Failure> {
    let place = at.place(global)?;
    let bundle = bundle(what.form()).map_err(|error| Failure::failed(error, "use --format v1"))?;
    let command = what.mcp.then(|| settings_here(global).map(|settings| mcp_command(&settings.environment)));
    let command = command.transpose()?;
    let order = Install { bundle: &bundle, parts: what.parts(), mcp: command.as_deref(), run };
    install(&place, &order, decide).map_err(failure)
}

/// The plain name where that is this program, so that the entry also holds on another machine; else its path.
fn mcp_command(environment: &BTreeMap<String, String>) -> Vec<String> {
    let here = std::env::current_exe().and_then(std::fs::canonicalize).unwrap_or_else(|_| "shuntyard".into());
    let path = environment.get("PATH").map(String::as_str).unwrap_or_default();
    let first = std::env::split_paths(path).map(|directory| directory.join("shuntyard")).find(|file| file.is_file());
    let same = first.and_then(|file| file.canonicalize().ok()).is_some_and(|file| file == here);
    let program = if same { PathBuf::from("shuntyard") } else { here };
    vec![program.to_string_lossy().into_owned(), "mcp".to_owned()]
}

/// Whether a user at a terminal can answer.
pub(super) fn talks() -> bool {
    std::io::stdin().is_terminal() && ui::stderr_is_terminal()
}

pub(super) fn decide(conflict: &Conflict<'_>, force: bool, asks: bool) -> Answer {
    if force {
        return Answer::Replace;
    }
    if !asks {
        return Answer::Keep;
    }
    if !conflict.diff.is_empty() {
        ui::note(&visible::lines(conflict.diff));
    }
    let why = match conflict.change {
        Change::KeptForeign => "is yours and not of the pack",
        _ => "is not as the pack left it",
    };
    ui::note(&format!("{} {why}; replace it? It is backed up. [y/N]", visible::line(conflict.path)));
    let mut line = String::new();
    let read = std::io::stdin().lock().read_line(&mut line);
    match (read, line.trim().to_lowercase().as_str()) {
        (Ok(_), "y" | "yes") => Answer::Replace,
        _ => Answer::Keep,
    }
}

pub(super) fn kept(report: &Report) -> Option<String> {
    let kept = report.files.iter().filter(|file| file.change.is_kept());
    let kept: Vec<String> = kept.map(|file| visible::line(&file.path)).collect();
    (!kept.is_empty()).then(|| kept.join(", "))
}
