//! What was done to the system, would be done, or is there: in words.

use crate::{
    cli::moment::{local, rfc3339},
    ui,
};
use serde_json::{Value, json};
use shuntyard_engine::ops::service::{Change, Installed, Mode, Outcome, Standing, Status, Step, shown_command};
use shuntyard_host::service::Manager;

pub fn installed(installed: &Installed, mode: Mode) {
    let Installed { manager, work, change, .. } = installed;
    steps(change, mode);
    let what = format!("`shuntyard {}` with {}", work.as_str(), manager.as_str());
    ui::result(&match (change.outcome, mode) {
        (Outcome::Unchanged, _) => format!("{what} is installed already, and is left as it is"),
        (Outcome::Updated, Mode::Do) => format!("updated {what}"),
        (Outcome::Updated, Mode::Show) => format!("would update {what}"),
        (_, Mode::Do) => format!("installed {what}"),
        (_, Mode::Show) => format!("would install {what}"),
    });
    if *manager == Manager::Systemd && change.outcome == Outcome::Installed {
        ui::note("it runs while you are logged in; `loginctl enable-linger` has it run from boot on");
    }
}

pub fn uninstalled(managers: &[Manager], change: &Change, mode: Mode) {
    steps(change, mode);
    let names: Vec<&str> = managers.iter().map(|manager| manager.as_str()).collect();
    ui::result(&match (managers, mode) {
        ([], _) => "nothing was installed".to_owned(),
        (_, Mode::Do) => format!("removed from {}; what is at work goes on", names.join(" and ")),
        (_, Mode::Show) => format!("would remove it from {}", names.join(" and ")),
    });
}

/// With `--dry-run` the steps are the result; otherwise they are messages.
fn steps(change: &Change, mode: Mode) {
    for warning in &change.warnings {
        ui::warn(warning);
    }
    for step in &change.steps {
        match mode {
            Mode::Do => ui::note(&format!("{} {}", verb(step, mode), subject(step))),
            Mode::Show => {
                ui::result(&format!("would {} {}", verb(step, mode), subject(step)));
                text(step).into_iter().flat_map(str::lines).for_each(|line| ui::result(&format!("    {line}")));
            }
        }
    }
}

fn verb(step: &Step, mode: Mode) -> &'static str {
    let (done, planned) = match step {
        Step::Directory(_) => ("made", "make"),
        Step::Write { .. } => ("wrote", "write"),
        Step::Remove(_) => ("removed", "remove"),
        Step::Run(_) | Step::Retry(_) | Step::Crontab { .. } => ("ran", "run"),
    };
    match mode {
        Mode::Do => done,
        Mode::Show => planned,
    }
}

fn subject(step: &Step) -> String {
    match step {
        Step::Directory(path) | Step::Write { path, .. } | Step::Remove(path) => path.display().to_string(),
        Step::Run(command) | Step::Retry(command) => shown_command(command),
        Step::Crontab { after, .. } if after.is_empty() => "crontab -r, because nothing else is in it".to_owned(),
        Step::Crontab { shown, .. } if shown.is_empty() => "crontab FILE: the same without the block".to_owned(),
        Step::Crontab { .. } => "crontab FILE: the same with this block".to_owned(),
    }
}

fn text(step: &Step) -> Option<&str> {
    match step {
        Step::Write { text, .. } => Some(text),
        Step::Crontab { shown, .. } => Some(shown),
        Step::Directory(_) | Step::Remove(_) | Step::Run(_) | Step::Retry(_) => None,
    }
}

/// One installed service, for scripts.
pub fn document(standing: &Standing) -> Value {
    json!({
        "manager": standing.manager, "work": standing.work, "name": standing.name, "path": standing.path,
        "current": standing.current, "running": standing.running, "state": standing.said, "pid": standing.pid,
        "last_run": standing.last_run.map(rfc3339), "last_result": standing.last_result,
        "next_run": standing.next_run.map(rfc3339),
    })
}

pub fn status(status: &Status) {
    for warning in &status.warnings {
        ui::warn(warning);
    }
    for found in &status.by_hand {
        ui::warn(&format!("not made by `shuntyard service install`: {found}"));
    }
    if status.services.is_empty() {
        ui::result("nothing is installed; `shuntyard service install` does it");
        return;
    }
    let rows: Vec<Vec<String>> = status.services.iter().map(row).collect();
    ui::result(&ui::table(&["SYSTEM", "RUNS", "AT WORK", "LAST RUN", "RESULT", "NEXT", "STATE"], &rows));
    for standing in status.services.iter().filter(|standing| !standing.current) {
        let name = &standing.name;
        ui::warn(&format!("{name} is not what would be written now; `shuntyard service install` updates it"));
    }
}

fn row(standing: &Standing) -> Vec<String> {
    let running = standing.running.map_or("not told", |running| if running { "yes" } else { "no" });
    let moment = |at: Option<i64>| at.map(local).unwrap_or_default();
    vec![
        standing.manager.as_str().to_owned(),
        standing.work.as_str().to_owned(),
        running.to_owned(),
        moment(standing.last_run),
        standing.last_result.clone().unwrap_or_default(),
        moment(standing.next_run),
        standing.said.clone(),
    ]
}
