//! The OpenCode binary: where it is, and whether it runs.

use super::{Area, Finding, Patient, machine::quoted};
use crate::{
    ops::conformance::{Scratch, Site},
    servers::{locate_with, version_warning},
};
use shuntyard_agents::opencode::{
    TESTED_VERSION,
    locate::{FoundIn, Located, NotLocated},
};
use shuntyard_host::bounded::{self, RunError};
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};

const VERSION: Duration = Duration::from_secs(20);
const INSTALL: &str = "shuntyard opencode install";

/// A binary that runs.
#[derive(Debug)]
pub(super) struct Binary {
    pub(super) path: PathBuf,
    /// What a person types to run it.
    pub(super) command: String,
}

/// The binary with its version; given back only when it runs.
pub(super) async fn binary(patient: &Patient<'_>) -> (Finding, Option<Binary>) {
    let installs = patient.paths.data_dir.join("opencode");
    let located = match locate_with(patient.config, patient.environment, &installs) {
        Ok(located) => located,
        Err(error) => return (not_located(patient, &error), None),
    };
    let site = Site::new(patient.program, patient.environment);
    let path = located.path.clone();
    let version = tokio::task::spawn_blocking(move || version(&site, &path)).await;
    let version = version.unwrap_or_else(|error| Err(error.to_string()));
    let place = format!("{} (from {})", located.path.display(), located.found_in.as_str());
    match version {
        Ok(version) => (known_version(&place, &version), Some(Binary { command: typed(&located), path: located.path })),
        Err(problem) => {
            let detail = format!("{place} does not run: {problem}");
            (Finding::problem(Area::Opencode, "binary", detail).mended_by(other_binary(patient)), None)
        }
    }
}

fn typed(located: &Located) -> String {
    match located.found_in {
        FoundIn::SearchPath => "opencode".to_owned(),
        FoundIn::Configuration | FoundIn::UsualPlace | FoundIn::ManagedInstall => quoted(&located.path),
    }
}

fn known_version(place: &str, version: &str) -> Finding {
    match version_warning(version) {
        Some(warning) => {
            let fix = format!("{INSTALL}  # the tested {TESTED_VERSION}, beside yours");
            Finding::warning(Area::Opencode, "binary", format!("{place}: {warning}")).mended_by(fix)
        }
        None if version == TESTED_VERSION => {
            Finding::ok(Area::Opencode, "binary", format!("{version}, the tested version, at {place}"))
        }
        None => Finding::ok(Area::Opencode, "binary", format!("{version} ({TESTED_VERSION} was tested), at {place}")),
    }
}

fn not_located(patient: &Patient<'_>, error: &NotLocated) -> Finding {
    if !patient.config.server.url.is_empty() {
        let detail = format!("{error}; not needed while a server is named");
        return Finding::warning(Area::Opencode, "binary", detail).mended_by(INSTALL);
    }
    let fix = match error {
        NotLocated::Nowhere => INSTALL.to_owned(),
        NotLocated::ConfiguredIsMissing(_) => other_binary(patient),
    };
    Finding::problem(Area::Opencode, "binary", error.to_string()).mended_by(fix)
}

/// An installed one is only used when none is named.
fn other_binary(patient: &Patient<'_>) -> String {
    if patient.config.server.binary.is_empty() {
        return INSTALL.to_owned();
    }
    let variables = ["SHUNTYARD_OPENCODE_BIN", "SHUNTYARD_SERVER_BINARY"];
    format!("{}; {INSTALL}", patient.unset(&variables, "server.binary"))
}

/// Run in a home of its own: even asking for the version makes OpenCode write there.
fn version(site: &Site, binary: &Path) -> Result<String, String> {
    let scratch = Scratch::new(&site.temporary).map_err(|error| error.to_string())?;
    let mut command = Command::new(binary);
    command
        .arg("--version")
        .env_clear()
        .envs(scratch.variables(&site.search_path))
        .current_dir(scratch.path("project"));
    let finished = bounded::run(&mut command, VERSION).map_err(|error| match error {
        RunError::Start(source) | RunError::Wait(source) => source.to_string(),
        RunError::Deadline { .. } | RunError::Idle { .. } => {
            format!("it did not say its version within {} s", VERSION.as_secs())
        }
        RunError::TooLarge { .. } => "it says no version, so it is not OpenCode".to_owned(),
    })?;
    let said = String::from_utf8_lossy(&finished.stdout).trim().to_owned();
    let is_version =
        said.starts_with(|first: char| first.is_ascii_digit()) && said.contains('.') && !said.contains(' ');
    match (finished.status.success(), is_version) {
        (true, true) => Ok(said),
        (true, false) => Err("it says no version, so it is not OpenCode".to_owned()),
        (false, _) => {
            let words = String::from_utf8_lossy(&finished.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
            let words: String = words.chars().take(200).collect();
            Err(format!("asked for its version it failed with {}: {words}", finished.status))
        }
    }
}
