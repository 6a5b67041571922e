//! launchd's jobs of this user.

use super::{
    Change, Outcome, Place, ServiceError, Standing, Step, ToolError,
    own_file::{Found, ours},
    plan::run,
};
use shuntyard_host::service::{
    Manager, Service, Work,
    launchd::{domain, label, printed, property_list},
};
use std::path::PathBuf;

/// Where this user's own property lists are.
pub fn directory(place: Place<'_>) -> Result<PathBuf, ServiceError> {
    Ok(place.installation.home()?.join("Library/LaunchAgents"))
}

fn path(place: Place<'_>) -> Result<PathBuf, ServiceError> {
    Ok(directory(place)?.join(format!("{}.plist", label(place.instance))))
}

fn target(place: Place<'_>) -> String {
    format!("{}/{}", domain(), label(place.instance))
}

fn is_loaded(place: Place<'_>) -> Result<bool, ToolError> {
    match place.tools.run(&["launchctl", "print", &target(place)]) {
        Ok(_) => Ok(true),
        Err(error) if error.is_missing() => Err(error),
        Err(_) => Ok(false),
    }
}

pub fn plan_install(place: Place<'_>, service: &Service) -> Result<Change, ServiceError> {
    let path = path(place)?;
    let text = property_list(service)?;
    let there = ours(&path)?;
    let same = there.as_deref() == Some(text.as_str());
    let loaded = is_loaded(place)?;
    if same && loaded {
        return Ok(Change::nothing(Outcome::Unchanged));
    }
    let mut steps = Vec::new();
    // launchd does not make the directory of the log.
    let data_dir = &place.installation.paths.data_dir;
    if !data_dir.is_dir() {
        steps.push(Step::Directory(data_dir.clone()));
    }
    if !same {
        steps.push(Step::Write { path: path.clone(), text });
    }
    if loaded {
        steps.push(run(&["launchctl", "bootout", &target(place)]));
    }
    // One that was disabled once cannot be loaded again otherwise.
    steps.push(run(&["launchctl", "enable", &target(place)]));
    let words = ["launchctl".to_owned(), "bootstrap".to_owned(), domain(), path.to_string_lossy().into_owned()];
    // A service that was asked to stop may still be stopping.
    steps.push(if loaded { Step::Retry(words.into()) } else { Step::Run(words.into()) });
    let outcome = if there.is_some() { Outcome::Updated } else { Outcome::Installed };
    Ok(Change { outcome, steps, warnings: Vec::new() })
}

pub fn plan_uninstall(place: Place<'_>) -> Result<Change, ServiceError> {
    if !is_there(place) {
        return Ok(Change::nothing(Outcome::Absent));
    }
    let mut steps = Vec::new();
    if is_loaded(place)? {
        steps.push(run(&["launchctl", "bootout", &target(place)]));
    }
    steps.push(Step::Remove(path(place)?));
    Ok(Change { outcome: Outcome::Removed, steps, warnings: Vec::new() })
}

/// Whether install has made something for this instance.
pub fn is_there(place: Place<'_>) -> bool {
    path(place).is_ok_and(|path| Found::at(&path).is_ours())
}

pub fn standing(place: Place<'_>) -> Option<Standing> {
    let path = path(place).ok()?;
    let Found::Ours(text) = Found::at(&path) else { return None };
    let work = if text.contains("<string>supervise</string>") { Work::Supervise } else { Work::Pulse };
    let wanted = place.installation.service(work).ok().and_then(|service| property_list(&service).ok());
    let mut standing = Standing {
        path: Some(path),
        current: wanted.as_ref() == Some(&text),
        ..Standing::new(Manager::Launchd, work, label(place.instance))
    };
    match place.tools.run(&["launchctl", "print", &target(place)]) {
        Ok(text) => {
            let said = printed(&text);
            let state = said.state.unwrap_or_default();
            // A timer that is loaded is set, whether or not a pass is being made just now.
            standing.running = Some(work == Work::Pulse || state == "running");
            standing.said = format!("loaded, {state}");
            standing.pid = said.pid;
            standing.last_result = said.last_exit.map(|code| format!("exit {code}"));
        }
        Err(error) => {
            standing.running = (!error.is_missing()).then_some(false);
            standing.said = format!("not loaded: {error}");
        }
    }
    Some(standing)
}
