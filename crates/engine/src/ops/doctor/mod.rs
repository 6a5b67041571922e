//! What is here, what is wrong, and the command that fixes it.
//!
//! Invariant: whatever is missing or broken becomes a finding, and what does not depend on it is checked all the same.
//! No finding ever holds a key.

mod machine;
mod opencode;
mod server;

pub use machine::quoted;

use crate::{
    Context,
    ops::conformance::{self, Check, Site},
};
use serde::Serialize;
use shuntyard_core::{settings::Config, values::redact::redact};
use shuntyard_host::paths::Paths;
use std::{collections::BTreeMap, path::Path};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    Configuration,
    Opencode,
    Server,
    Provider,
    Store,
    Machine,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    Ok,
    Warning,
    Problem,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub area: Area,
    pub subject: String,
    pub state: State,
    pub detail: String,
    /// The command that fixes it, as a shell takes it.
    pub fix: Option<String>,
}

impl Finding {
    fn new(area: Area, subject: &str, state: State, detail: impl Into<String>) -> Self {
        Self { area, subject: subject.to_owned(), state, detail: redact(&detail.into()), fix: None }
    }

    fn ok(area: Area, subject: &str, detail: impl Into<String>) -> Self {
        Self::new(area, subject, State::Ok, detail)
    }

    fn warning(area: Area, subject: &str, detail: impl Into<String>) -> Self {
        Self::new(area, subject, State::Warning, detail)
    }

    fn problem(area: Area, subject: &str, detail: impl Into<String>) -> Self {
        Self::new(area, subject, State::Problem, detail)
    }

    fn mended_by(mut self, command: impl Into<String>) -> Self {
        self.fix = Some(command.into());
        self
    }
}

/// What prevents the work, with the command that fixes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    pub problem: String,
    pub fix: String,
}

/// What the caller knows. The parts of a context are given one by one, because without a store there is none.
#[derive(Debug)]
pub struct Patient<'a> {
    pub config: &'a Config,
    pub paths: &'a Paths,
    pub environment: &'a BTreeMap<String, String>,
    pub program: &'a Path,
    /// The user's current directory: a project may connect providers of its own.
    pub directory: &'a Path,
    /// The files and variables that were read. With a trouble, `config` is what is left without them.
    pub configuration: Result<Vec<String>, Trouble>,
    /// With the store open.
    pub context: Result<&'a Context, Trouble>,
}

impl Patient<'_> {
    /// The command that takes a setting back, or says where it comes from.
    fn unset(&self, variables: &[&str], setting: &str) -> String {
        let set = variables.iter().find(|name| self.environment.get(**name).is_some_and(|value| !value.is_empty()));
        match set {
            Some(variable) => format!("unset {variable}"),
            None => format!("shuntyard config show --origin  # says where {setting} is set"),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Only what can be seen.
    Quick,
    /// Also how the installed OpenCode behaves.
    Full,
}

#[derive(Debug, Serialize)]
pub struct Diagnosis {
    pub findings: Vec<Finding>,
    pub conformance: Vec<Check>,
    /// Why there is no conformance check, when there is none.
    pub conformance_skipped: Option<String>,
}

/// The diagnosis in one word, the gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    ConfigurationBroken,
    OpencodeUnusable,
    Unwell,
    Well,
}

impl Diagnosis {
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        let problem = |wanted: &[Area]| {
            self.findings.iter().any(|finding| finding.state == State::Problem && wanted.contains(&finding.area))
        };
        let no_start = self.conformance.iter().any(|check| check.fails() && check.name == conformance::START);
        if problem(&[Area::Configuration]) {
            Verdict::ConfigurationBroken
        } else if no_start || problem(&[Area::Opencode, Area::Server]) {
            Verdict::OpencodeUnusable
        } else if problem(&[Area::Provider, Area::Store, Area::Machine]) || self.conformance.iter().any(Check::fails) {
            Verdict::Unwell
        } else {
            Verdict::Well
        }
    }
}

/// Checks everything, and names each check through `progress`.
pub async fn examine(patient: &Patient<'_>, depth: Depth, progress: &dyn Fn(&str)) -> Diagnosis {
    let mut findings = vec![configuration(patient)];
    progress("looking for OpenCode");
    let (finding, binary) = opencode::binary(patient).await;
    findings.push(finding);
    findings.extend(machine::store(patient).await);
    findings.extend(machine::tools(patient, binary.is_some()).await);
    findings.extend(server::server_and_providers(patient, binary.as_ref(), progress).await);
    findings.sort_by_key(|finding| finding.area);
    let (conformance, conformance_skipped) = match (depth, binary) {
        (Depth::Quick, _) => (Vec::new(), Some("left out with --quick".to_owned())),
        (Depth::Full, None) => (Vec::new(), Some("there is no OpenCode on this machine to check".to_owned())),
        (Depth::Full, Some(binary)) => {
            let site = Site::new(patient.program, patient.environment);
            (conformance::run(&site, &binary.path, progress).await, None)
        }
    };
    Diagnosis { findings, conformance, conformance_skipped }
}

fn configuration(patient: &Patient<'_>) -> Finding {
    match &patient.configuration {
        Ok(sources) if sources.is_empty() => {
            Finding::ok(Area::Configuration, "settings", "the built-in ones; no file and no variable changes them")
        }
        Ok(sources) => Finding::ok(
            Area::Configuration,
            "settings",
            format!("the built-in ones, changed by {}", sources.join(", ")),
        ),
        Err(trouble) => Finding::problem(Area::Configuration, "settings", &trouble.problem).mended_by(&trouble.fix),
    }
}

#[cfg(test)]
mod tests;
