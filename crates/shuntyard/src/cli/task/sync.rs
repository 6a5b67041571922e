//! `shuntyard task sync`: synchronises TODO.md and the store in both directions.

use super::claim::{failure, unreachable};
use crate::{
    cli::{Global, input},
    failure::Failure,
    ui::{self, Format},
};
use clap::Args;
use shuntyard_core::{values::clean_line, work::task::TaskId};
use shuntyard_engine::queue::claims::{self, Ended, Issues, Run, SyncOptions, SyncReport};
use std::{path::PathBuf, process::ExitCode};

#[derive(Debug, Args)]
pub struct SyncArgs {
    /// The repository; that of the current directory by default
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// The branch that TODO.md is shared on; the remote's own, or what is checked out, by default
    #[arg(long, value_name = "BRANCH")]
    base: Option<String>,
    /// Only say what would be done
    #[arg(long)]
    dry_run: bool,
    /// Cancel open tasks that TODO.md calls done or declined, instead of only telling
    #[arg(long)]
    apply: bool,
    /// Make a GitHub issue for each new task, where `gh` can; SHUNTYARD_AUTO_ISSUE=true means the same
    #[arg(long)]
    with_issue: bool,
}

pub async fn run(global: &Global, args: &SyncArgs) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let directory = input::directory(args.repo.as_ref())?;
    let options = SyncOptions {
        run: if args.dry_run { Run::Dry } else { Run::Real },
        ended: if args.apply { Ended::Cancel } else { Ended::Tell },
        issues: if args.with_issue { Issues::Wanted } else { Issues::AsSet },
        base: args.base.as_deref(),
    };
    let report = claims::sync(&context, &directory, options).await.map_err(failure)?;
    if let Some(why) = &report.offline {
        return Err(unreachable(&report.place, why));
    }
    match global.format() {
        Format::Json => ui::json(&report),
        Format::People => show(&report),
    }
    Ok(ExitCode::SUCCESS)
}

fn show(report: &SyncReport) {
    let would = if report.dry_run { "would be " } else { "" };
    for added in &report.added {
        let after = match added.depends_on.as_slice() {
            [] => String::new(),
            ids => format!(" (after {})", listed(ids)),
        };
        ui::result(&format!("{}: {would}added{after}: {}", added.id, clean_line(&added.description, 80)));
    }
    for (ids, did) in [
        (&report.marked, "ticked in TODO.md, since it is done"),
        (&report.released, "given back in TODO.md, since it was given up"),
        (&report.freed, "given back in TODO.md, since nobody works on it any more"),
        (&report.cancelled, "cancelled, since TODO.md has it over"),
    ] {
        ids.iter().for_each(|id| ui::result(&format!("{id}: {would}{did}")));
    }
    for skipped in &report.skipped {
        ui::result(&format!("{}: not added: {}", skipped.todo, clean_line(&skipped.detail, 120)));
    }
    // Most lines of a TODO.md are for people; they are counted, and listed in the JSON.
    let (for_people, told): (Vec<_>, Vec<_>) =
        report.differences.iter().partition(|difference| difference.kind == "only_in_file");
    let settled = |id: &TaskId| report.marked.contains(id);
    for difference in told.iter().filter(|difference| !settled(&difference.todo)) {
        ui::result(&format!("{}: {}", difference.todo, difference.detail));
    }
    for cycle in &report.cycles {
        ui::result(&format!("{} wait for each other", listed(cycle)));
    }
    let added = report.added.len();
    let left = for_people.iter().filter(|line| report.added.iter().all(|added| added.todo != line.todo)).count();
    ui::note(&format!("{}: {added} {would}added, {left} lines only there", report.place));
    report.notes.iter().for_each(|note| ui::warn(note));
    if !report.differences.is_empty() && told.iter().any(|difference| difference.kind == "file_ended") {
        ui::note("`--apply` cancels what TODO.md has over");
    }
}

fn listed(ids: &[TaskId]) -> String {
    ids.iter().map(TaskId::as_str).collect::<Vec<_>>().join(", ")
}
