//! Has the system supervise tasks by itself: installs, removes and inspects what systemd, cron or launchd run.
//!
//! Invariant: what is not ours is never changed. A change is first planned from what is there, then done step by step,
//! and shown with the same steps when it is only to be shown; what is as it should be stays untouched.

mod cron;
mod duplicates;
mod error;
mod launchd;
mod own_file;
mod perform;
mod plan;
mod standing;
mod systemd;
#[cfg(test)]
mod tests;
mod tools;

pub use error::{Duplicate, ServiceError, ToolError};
pub use plan::{Change, Outcome, Step};
pub use standing::Standing;
pub use tools::shown as shown_command;

use shuntyard_host::{
    paths::Paths,
    service::{Instance, Manager, Service, Work, left_out, variables},
};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};
use tools::Tools;

/// What the caller knows of the place where this runs.
#[derive(Debug, Clone)]
pub struct Installation {
    pub environment: BTreeMap<String, String>,
    pub paths: Paths,
    pub program: PathBuf,
    /// Where relative paths of the caller begin.
    pub here: PathBuf,
}

/// Whether steps are done or only shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Do,
    Show,
}

/// What becomes of an installation beside another one that does the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Beside {
    Refused,
    Allowed,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Installed {
    pub manager: Manager,
    pub work: Work,
    pub instance: Instance,
    pub change: Change,
}

/// Installs with this manager, or with the one that the system has.
pub fn install(
    installation: &Installation,
    manager: Option<Manager>,
    work: Work,
    beside: Beside,
    mode: Mode,
) -> Result<Installed, ServiceError> {
    let tools = Tools::new(&installation.environment);
    let manager = match manager {
        Some(manager) => manager,
        None => available(&tools)?,
    };
    // Cron can only start something now and then.
    let work = if manager == Manager::Cron { Work::Pulse } else { work };
    let service = installation.service(work)?;
    let place = Place { installation, tools: &tools, instance: &service.instance };
    let (duplicates, mut warnings) = duplicates::find(place, manager)?;
    if !duplicates.is_empty() && beside == Beside::Refused {
        return Err(ServiceError::Duplicates(duplicates));
    }
    warnings.extend(duplicates.iter().map(|found| format!("{found}: both will supervise")));
    warnings.extend(installation.forgotten());
    let mut change = match manager {
        Manager::Systemd => systemd::plan_install(place, &service)?,
        Manager::Cron => cron::plan_install(place, &service)?,
        Manager::Launchd => launchd::plan_install(place, &service)?,
    };
    change.warnings.splice(0..0, warnings);
    perform::perform(&change, &tools, mode)?;
    change.steps.extend(remove_former(installation, &tools, mode)?);
    Ok(Installed { manager, work, instance: service.instance, change })
}

/// Removes what was installed for this instance under the program's former name. Returns the steps.
fn remove_former(installation: &Installation, tools: &Tools, mode: Mode) -> Result<Vec<Step>, ServiceError> {
    let instance = Instance::former(&installation.paths.data_dir, installation.home()?);
    let place = Place { installation, tools, instance: &instance };
    let (_, change) = plan_uninstall(place, None)?;
    perform::perform(&change, tools, mode)?;
    Ok(change.steps)
}

/// Removes what [`install`] made for this instance: with one manager, or wherever it is.
pub fn uninstall(
    installation: &Installation,
    manager: Option<Manager>,
    mode: Mode,
) -> Result<(Vec<Manager>, Change), ServiceError> {
    let tools = Tools::new(&installation.environment);
    let instance = installation.instance()?;
    let place = Place { installation, tools: &tools, instance: &instance };
    let (managers, mut whole) = plan_uninstall(place, manager)?;
    perform::perform(&whole, &tools, mode)?;
    let former = remove_former(installation, &tools, mode)?;
    if !former.is_empty() {
        whole.outcome = Outcome::Removed;
        whole.steps.extend(former);
    }
    Ok((managers, whole))
}

/// Without a manager, wherever something is installed.
fn plan_uninstall(place: Place<'_>, manager: Option<Manager>) -> Result<(Vec<Manager>, Change), ServiceError> {
    let mut whole = Change::nothing(Outcome::Absent);
    let mut managers = Vec::new();
    for candidate in Manager::ALL.into_iter().filter(|candidate| manager.is_none_or(|manager| manager == *candidate)) {
        let planned = match candidate {
            Manager::Systemd => systemd::plan_uninstall(place)?,
            Manager::Cron => match cron::plan_uninstall(place) {
                // Unless the user named cron, one that is missing or closed to this user holds nothing of ours.
                Err(ServiceError::Tool(error)) if manager.is_none() => {
                    let warned = (!error.is_missing()).then(|| format!("not looked at: {error}"));
                    Change { warnings: warned.into_iter().collect(), ..Change::nothing(Outcome::Absent) }
                }
                planned => planned?,
            },
            Manager::Launchd => launchd::plan_uninstall(place)?,
        };
        if planned.outcome == Outcome::Removed {
            managers.push(candidate);
            whole.outcome = Outcome::Removed;
        }
        whole.steps.extend(planned.steps);
        whole.warnings.extend(planned.warnings);
    }
    Ok((managers, whole))
}

/// What is installed for this instance and its status, and what else does the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Status {
    pub instance: Instance,
    pub services: Vec<Standing>,
    pub by_hand: Vec<Duplicate>,
    pub warnings: Vec<String>,
}

pub fn status(installation: &Installation) -> Result<Status, ServiceError> {
    let tools = Tools::new(&installation.environment);
    let instance = installation.instance()?;
    let place = Place { installation, tools: &tools, instance: &instance };
    let mut services = systemd::standings(place);
    services.extend(launchd::standing(place));
    let mut warnings = Vec::new();
    match cron::standing(place) {
        Ok(standing) => services.extend(standing),
        Err(ServiceError::Tool(error)) if error.is_missing() => {}
        Err(error) => warnings.push(error.to_string()),
    }
    Ok(Status { services, by_hand: duplicates::by_hand(place).unwrap_or_default(), warnings, instance })
}

/// systemd where it answers, launchd on macOS, and cron elsewhere.
fn available(tools: &Tools) -> Result<Manager, ServiceError> {
    if systemd::answers(tools).is_ok() {
        Ok(Manager::Systemd)
    } else if cfg!(target_os = "macos") {
        Ok(Manager::Launchd)
    } else if cron::read(tools).is_ok() {
        Ok(Manager::Cron)
    } else {
        Err(ServiceError::NoManager)
    }
}

/// What every inspection and plan needs.
#[derive(Debug, Clone, Copy)]
struct Place<'a> {
    installation: &'a Installation,
    tools: &'a Tools,
    instance: &'a Instance,
}

impl Installation {
    fn home(&self) -> Result<&Path, ServiceError> {
        self.environment.get("HOME").map(Path::new).ok_or(ServiceError::NoHome)
    }

    fn instance(&self) -> Result<Instance, ServiceError> {
        Ok(Instance::of(&self.paths.data_dir, self.home()?))
    }

    fn log(&self) -> PathBuf {
        self.paths.data_dir.join("service.log")
    }

    fn service(&self, work: Work) -> Result<Service, ServiceError> {
        let text = |path: &Path| path.to_str().map(str::to_owned).ok_or_else(|| ServiceError::NotText(path.to_owned()));
        // One that was replaced while it ran has no path any more.
        if !self.program.is_absolute() || !self.program.is_file() {
            return Err(ServiceError::NoProgram(self.program.clone()));
        }
        Ok(Service {
            program: text(&self.program)?,
            work,
            instance: self.instance()?,
            variables: variables(&self.environment, &self.here, Path::is_dir),
            home: text(self.home()?)?,
            log: text(&self.log())?,
        })
    }

    /// What holds in this shell and will not hold for the service.
    fn forgotten(&self) -> Vec<String> {
        let left = left_out(&self.environment);
        let mut warnings = Vec::new();
        if !left.secrets.is_empty() {
            warnings.push(format!(
                "the service does not get {}, because secrets are not written into its files; log in with `opencode auth login`",
                left.secrets.join(", ")
            ));
        }
        if !left.settings.is_empty() {
            let names = left.settings.join(", ");
            warnings.push(format!("the service does not get {names}; write the setting into config.toml"));
        }
        warnings
    }
}
