//! The change of each file, in words and as a document.

use super::visible;
use crate::{failure::Failure, ui};
use serde_json::{Value, json};
use shuntyard_engine::roles::pack::{BackupSummary, Change, FileReport, Outcome, Report, Run};

pub fn document(report: &Report, facts: Value, refusal: Option<&Failure>) {
    let mut document = json!(report);
    if let Some(fields) = document.as_object_mut() {
        let more = [Some(facts), refusal.map(Failure::to_json)];
        for more in more.into_iter().flatten() {
            fields.extend(more.as_object().cloned().unwrap_or_default());
        }
    }
    ui::json(&document);
}

pub fn installed(report: &Report, run: Run) {
    changes(report, run);
    for diff in report.files.iter().filter(|file| file.change.is_kept()).filter_map(|file| file.diff.as_deref()) {
        ui::result(visible::lines(diff).trim_end());
    }
    let target = report.target.display();
    ui::result(&match (report.outcome, run) {
        (Outcome::Unchanged | Outcome::NotInstalled, _) => format!("the pack is in {target} already"),
        (Outcome::Changed, Run::Real) => format!("installed the pack in {target}"),
        (Outcome::Changed, Run::Dry) => format!("would install the pack in {target}"),
        (Outcome::Partly, Run::Real) => format!("installed what could be in {target}"),
        (Outcome::Partly, Run::Dry) => format!("would install what can be in {target}"),
    });
    if run == Run::Real && report.backup.is_some() {
        backed_up(report);
        ui::note("restart OpenCode, so that it reads its directories again");
    }
}

pub fn uninstalled(report: &Report, run: Run) {
    changes(report, run);
    let target = report.target.display();
    ui::result(&match (report.outcome, run) {
        (Outcome::NotInstalled, _) => format!("nothing was installed in {target}"),
        (_, Run::Dry) => format!("would take the pack away from {target}"),
        (Outcome::Partly, Run::Real) => format!("took the pack away from {target}, but for what is kept"),
        (_, Run::Real) => format!("took the pack away from {target}"),
    });
    backed_up(report);
}

pub fn restored(report: &Report, run: Run) {
    changes(report, run);
    let target = report.target.display();
    ui::result(&match (report.outcome, run) {
        (Outcome::Unchanged, _) => format!("{target} is as it was then"),
        (Outcome::Partly, Run::Real) => format!("put back what was in {target}, but for what is kept"),
        (_, Run::Real) => format!("put back what was in {target}"),
        (_, Run::Dry) => format!("would put back what was in {target}"),
    });
    backed_up(report);
}

pub fn difference(report: &Report) {
    let mut quiet = true;
    for file in report.files.iter().filter(|file| file.change != Change::Unchanged) {
        quiet = false;
        ui::frame(&format!("{}: {}", visible::line(&file.path), would(file)));
        if let Some(diff) = &file.diff {
            ui::result(visible::lines(diff).trim_end());
        }
        note(file);
    }
    if quiet {
        ui::result(&format!("nothing would change in {}", report.target.display()));
    }
}

pub fn backups(found: &[BackupSummary]) {
    if found.is_empty() {
        ui::result("there are no backups");
        return;
    }
    let rows: Vec<Vec<String>> =
        found.iter().map(|backup| vec![backup.name.clone(), backup.reason.clone(), backup.files.to_string()]).collect();
    ui::result(&ui::table(&["BACKUP", "BEFORE", "FILES"], &rows));
}

/// With `--dry-run` the changes are the result; otherwise they are messages.
fn changes(report: &Report, run: Run) {
    for file in report.files.iter().filter(|file| file.change != Change::Unchanged) {
        match run {
            Run::Real => ui::note(&format!("{} {}", did(file), visible::line(&file.path))),
            Run::Dry => ui::result(&format!("would {} {}", would(file), visible::line(&file.path))),
        }
        note(file);
    }
}

fn note(file: &FileReport) {
    if let Some(note) = &file.note {
        ui::note(&format!("{}: {}", visible::line(&file.path), visible::line(note)));
    }
}

fn backed_up(report: &Report) {
    if let Some(name) = &report.backup {
        ui::note(&format!("what was there: `shuntyard pack restore {name}`"));
    }
}

fn did(file: &FileReport) -> &'static str {
    match file.change {
        Change::Write => "wrote",
        Change::Replace => "replaced",
        Change::Unchanged | Change::KeptForeign | Change::KeptEdited => "kept",
        Change::KeptLost => "kept, because the backup of what was there before is gone,",
        Change::Remove => "removed",
        Change::PutBack => "put back",
    }
}

fn would(file: &FileReport) -> &'static str {
    match file.change {
        Change::Write => "write",
        Change::Replace => "replace",
        Change::Unchanged => "leave",
        Change::KeptForeign => "keep, because it was there before,",
        Change::KeptEdited => "keep, because it was changed,",
        Change::KeptLost => "keep, because the backup of what was there before is gone,",
        Change::Remove => "remove",
        Change::PutBack => "put back",
    }
}
