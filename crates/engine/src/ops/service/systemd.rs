//! systemd's manager of this user.

use super::{
    Change, Outcome, Place, ServiceError, Standing, Step, ToolError,
    own_file::{Found, ours},
    plan::run,
    tools::Tools,
};
use shuntyard_host::service::{
    Manager, Service, Work,
    systemd::{file_names, main_unit, moment, properties, service_unit, units},
};
use std::path::PathBuf;

const WORKS: [Work; 2] = [Work::Supervise, Work::Pulse];

/// Where this user's own units are.
pub fn directory(place: Place<'_>) -> PathBuf {
    let ours = &place.installation.paths.config_dir;
    ours.parent().unwrap_or(ours).join("systemd/user")
}

/// Fails when there is no manager that this user could talk to.
pub fn answers(tools: &Tools) -> Result<(), ToolError> {
    tools.run(&["systemctl", "--user", "show", "--property=Version"]).map(drop)
}

pub fn plan_install(place: Place<'_>, service: &Service) -> Result<Change, ServiceError> {
    // Before anything is written.
    answers(place.tools)?;
    let directory = directory(place);
    let main = main_unit(service.work, place.instance);
    let mut there = false;
    let mut writes = Vec::new();
    for (name, text) in units(service)? {
        let path = directory.join(name);
        let found = ours(&path)?;
        there |= found.is_some();
        if found.as_deref() != Some(text.as_str()) {
            writes.push(Step::Write { path, text });
        }
    }
    // A supervisor and a timer of one instance would do the same work.
    let mut steps = Vec::new();
    for other in WORKS.into_iter().filter(|other| *other != service.work) {
        let removal = removal(place, other);
        there |= !removal.is_empty();
        steps.extend(removal);
    }
    let changed = !writes.is_empty();
    steps.extend(writes);
    if !steps.is_empty() {
        steps.push(run(&["systemctl", "--user", "daemon-reload"]));
    }
    if changed && there {
        steps.push(run(&["systemctl", "--user", "enable", &main]));
        steps.push(run(&["systemctl", "--user", "restart", &main]));
    } else if changed || !(holds(place.tools, "is-enabled", &main) && holds(place.tools, "is-active", &main)) {
        steps.push(run(&["systemctl", "--user", "enable", "--now", &main]));
    }
    let outcome = match (there, steps.is_empty()) {
        (false, _) => Outcome::Installed,
        (true, true) => Outcome::Unchanged,
        (true, false) => Outcome::Updated,
    };
    Ok(Change { outcome, steps, warnings: Vec::new() })
}

fn holds(tools: &Tools, question: &str, unit: &str) -> bool {
    tools.run(&["systemctl", "--user", question, unit]).is_ok()
}

pub fn plan_uninstall(place: Place<'_>) -> Result<Change, ServiceError> {
    let mut steps: Vec<Step> = WORKS.into_iter().flat_map(|work| removal(place, work)).collect();
    if steps.is_empty() {
        return Ok(Change::nothing(Outcome::Absent));
    }
    steps.push(run(&["systemctl", "--user", "daemon-reload"]));
    Ok(Change { outcome: Outcome::Removed, steps, warnings: Vec::new() })
}

/// The steps that remove our units for this work, if there are any.
fn removal(place: Place<'_>, work: Work) -> Vec<Step> {
    let files: Vec<PathBuf> = files(place, work).into_iter().filter(|path| Found::at(path).is_ours()).collect();
    if files.is_empty() {
        return Vec::new();
    }
    let mut steps = vec![run(&["systemctl", "--user", "disable", "--now", &main_unit(work, place.instance)])];
    steps.extend(files.into_iter().map(Step::Remove));
    steps
}

fn files(place: Place<'_>, work: Work) -> Vec<PathBuf> {
    let directory = directory(place);
    file_names(work, place.instance).into_iter().map(|name| directory.join(name)).collect()
}

/// Whether install has made something for this instance.
pub fn is_there(place: Place<'_>) -> bool {
    WORKS.into_iter().any(|work| files(place, work).iter().any(|path| Found::at(path).is_ours()))
}

pub fn standings(place: Place<'_>) -> Vec<Standing> {
    WORKS.into_iter().filter_map(|work| standing(place, work)).collect()
}

fn standing(place: Place<'_>, work: Work) -> Option<Standing> {
    let found: Vec<(PathBuf, Found)> =
        files(place, work).into_iter().map(|path| (path.clone(), Found::at(&path))).collect();
    let path = found.iter().find(|(_, found)| found.is_ours())?.0.clone();
    let wanted = place.installation.service(work).ok().and_then(|service| units(&service).ok()).unwrap_or_default();
    let texts: Vec<Found> = wanted.into_iter().map(|(_, text)| Found::Ours(text)).collect();
    let main = main_unit(work, place.instance);
    let mut standing = Standing {
        path: Some(path),
        current: found.into_iter().map(|(_, found)| found).collect::<Vec<_>>() == texts,
        ..Standing::new(Manager::Systemd, work, main.clone())
    };
    if let Err(error) = ask(place, work, &main, &mut standing) {
        standing.said = error.to_string();
    }
    Some(standing)
}

fn ask(place: Place<'_>, work: Work, main: &str, standing: &mut Standing) -> Result<(), ServiceError> {
    let show = |unit: &str, names: &str| {
        place.tools.run(&["systemctl", "--user", "show", unit, &format!("--property={names}")])
    };
    let text = show(main, "ActiveState,SubState,UnitFileState,LastTriggerUSec,NextElapseUSecRealtime")?;
    let said = properties(&text);
    let of = |name: &str| said.get(name).copied().unwrap_or_default();
    // One that waits for its next start after a failure is `activating`.
    standing.running = Some(matches!(of("ActiveState"), "active" | "activating" | "reloading"));
    standing.said = format!("{} ({}), {}", of("ActiveState"), of("SubState"), of("UnitFileState"));
    standing.next_run = moment(of("NextElapseUSecRealtime"));
    let service = service_unit(work, place.instance);
    let text = show(&service, "MainPID,Result,ExecMainStatus,ExecMainStartTimestamp")?;
    let program = properties(&text);
    standing.last_run = program.get("ExecMainStartTimestamp").or(said.get("LastTriggerUSec")).and_then(|at| moment(at));
    standing.pid = program.get("MainPID").and_then(|pid| pid.parse().ok()).filter(|pid| *pid != 0);
    // Before the first run systemd calls the result a success as well.
    standing.last_result = standing.last_run.and_then(|_| program.get("Result")).map(|result| {
        match program.get("ExecMainStatus").filter(|status| **status != "0") {
            Some(status) => format!("{result} ({status})"),
            None => (*result).to_owned(),
        }
    });
    Ok(())
}
