//! OpenCode as it is found here: the binary and its version, the servers, and what they are connected to.

use super::{Area, Finding, Patient};
use crate::{
    Context,
    conformance::{Scratch, Site},
    server::{ServerError, ServerStatus, Want, acquire, locate_with, release, statuses, version_warning},
};
use std::{
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use switchyard_agents::opencode::{ApiError, TESTED_VERSION, locate::NotLocated};
use switchyard_core::{
    DispatchId,
    route::{Catalogue, Provider},
};
use switchyard_host::bounded::{self, RunError};
use switchyard_store::ServerState;
use uuid::Uuid;

const VERSION: Duration = Duration::from_secs(20);
const INSTALL: &str = "switchyard opencode install";
const LOG_IN: &str = "opencode auth login";

/// The binary with its version; given back only when it runs.
pub(super) async fn binary(patient: &Patient<'_>) -> (Finding, Option<PathBuf>) {
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
        Ok(version) => (known_version(&place, &version), Some(located.path)),
        Err(problem) => {
            let detail = format!("{place} does not run: {problem}");
            (Finding::problem(Area::Opencode, "binary", detail).mended_by(other_binary(patient)), None)
        }
    }
}

fn known_version(place: &str, version: &str) -> Finding {
    match version_warning(version) {
        Some(warning) => {
            let fix = format!("{INSTALL}  (the tested {TESTED_VERSION}, beside yours)");
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
    if patient.environment.get("SWITCHYARD_OPENCODE_BIN").is_some_and(|value| !value.is_empty()) {
        format!("unset SWITCHYARD_OPENCODE_BIN; {INSTALL}")
    } else if patient.config.server.binary.is_empty() {
        INSTALL.to_owned()
    } else {
        "switchyard config show --origin  (says where server.binary is set)".to_owned()
    }
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
        RunError::Deadline { .. } => format!("it did not say its version within {} s", VERSION.as_secs()),
    })?;
    let said = String::from_utf8_lossy(&finished.stdout).trim().to_owned();
    let is_version =
        said.starts_with(|first: char| first.is_ascii_digit()) && said.contains('.') && !said.contains(' ');
    match finished.status.success() && is_version {
        true => Ok(said),
        false => {
            let words = String::from_utf8_lossy(&finished.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
            let words: String = words.chars().take(200).collect();
            Err(format!("asked for its version it ended with {}: {words}", finished.status))
        }
    }
}

/// The server that a dispatch would use now, the managed ones that there are, and the providers.
pub(super) async fn server_and_providers(
    patient: &Patient<'_>,
    has_binary: bool,
    progress: &dyn Fn(&str),
) -> Vec<Finding> {
    let not_looked = |why: &str| vec![Finding::warning(Area::Server, "servers", format!("not looked at: {why}"))];
    let Ok(context) = patient.context else { return not_looked("the store cannot be used") };
    if patient.configuration.is_err() {
        // The keeper of a server reads the same settings and would refuse to start.
        return not_looked("the configuration has to be mended first");
    }
    let named = &context.config.server.url;
    if named.is_empty() && !has_binary {
        let mut findings = managed(context).await;
        findings.push(Finding::warning(Area::Provider, "providers", "not looked at: only OpenCode knows them"));
        return findings;
    }
    progress("asking OpenCode for its providers");
    let holder = DispatchId(Uuid::now_v7());
    let acquired = match acquire(context, holder, &Want::Any).await {
        Ok(acquired) => acquired,
        Err(error) => {
            let mut findings = vec![no_server(named, &error)];
            findings.extend(managed(context).await.into_iter().filter(|finding| finding.subject != NONE));
            return findings;
        }
    };
    let catalogue = acquired.client.catalogue().await;
    let mut findings = match acquired.managed {
        Some(_) => managed(context).await,
        None => vec![named_server(named, &acquired.health.version)],
    };
    release(context, &acquired, holder).await;
    match catalogue {
        Ok(catalogue) => findings.extend(providers(&catalogue)),
        Err(error) => findings.push(no_catalogue(&error)),
    }
    findings
}

fn named_server(url: &str, version: &str) -> Finding {
    match version_warning(version) {
        Some(warning) => Finding::warning(Area::Server, "named", format!("{url} answers; {warning}")),
        None => Finding::ok(Area::Server, "named", format!("{url} answers, OpenCode {version}")),
    }
}

fn no_server(named: &str, error: &ServerError) -> Finding {
    if named.is_empty() {
        // What keeps a server from starting is mostly OpenCode's own configuration, and this says what.
        return Finding::problem(Area::Server, "managed", error.to_string()).mended_by("opencode debug config");
    }
    let fix = match error {
        ServerError::Api(ApiError::Unauthorized(_)) => "export SWITCHYARD_OPENCODE_PASSWORD=…  (the server's own)",
        _ => "opencode serve  (at that address), or name no server: unset SWITCHYARD_OPENCODE_URL",
    };
    Finding::problem(Area::Server, "named", error.to_string()).mended_by(fix)
}

fn no_catalogue(error: &ApiError) -> Finding {
    let detail = format!("OpenCode does not tell its providers: {error}");
    Finding::problem(Area::Server, "providers", detail).mended_by("opencode debug config")
}

const NONE: &str = "managed";

async fn managed(context: &Context) -> Vec<Finding> {
    match statuses(context).await {
        Ok(servers) if servers.is_empty() => {
            vec![Finding::ok(Area::Server, NONE, "none runs; the next dispatch starts one")]
        }
        Ok(servers) => servers.iter().map(managed_server).collect(),
        Err(error) => vec![Finding::problem(Area::Store, "servers", error.to_string())],
    }
}

fn managed_server(server: &ServerStatus) -> Finding {
    let name = server.record.slot.as_str();
    let memory = server.resident_bytes >> 20;
    let stop = "switchyard opencode stop";
    match (&server.version, server.record.state) {
        (Some(version), ServerState::Ready | ServerState::Draining) => {
            let detail = format!("{} answers, OpenCode {version}, {memory} MiB", server.record.url);
            Finding::ok(Area::Server, name, detail)
        }
        (_, ServerState::Starting) => Finding::ok(Area::Server, name, "it is just starting"),
        (_, ServerState::Failed) => {
            let problem = server.record.problem.as_deref().unwrap_or("no reason was noted");
            Finding::warning(Area::Server, name, format!("it failed: {problem}")).mended_by(stop)
        }
        (None, _) => {
            Finding::warning(Area::Server, name, format!("{} does not answer", server.record.url)).mended_by(stop)
        }
    }
}

pub(super) fn providers(catalogue: &Catalogue) -> Vec<Finding> {
    let mut findings: Vec<Finding> = catalogue.providers.iter().map(|(id, found)| provider(id, found)).collect();
    if !catalogue.providers.iter().any(|(id, found)| found.is_usable() && !comes_with_opencode(id, found)) {
        let detail = "no provider of your own is connected, so no paid model can be used";
        findings.push(Finding::warning(Area::Provider, "yours", detail).mended_by(LOG_IN));
    }
    findings
}

fn provider(id: &str, found: &Provider) -> Finding {
    let models = found.models.len();
    let models = if models == 1 { "1 model".to_owned() } else { format!("{models} models") };
    let source = match found.source.as_str() {
        "env" => "from a variable",
        "config" => "from OpenCode's configuration",
        "api" => "from a login",
        _ => "from OpenCode itself",
    };
    if comes_with_opencode(id, found) {
        return Finding::ok(Area::Provider, id, format!("{models}; comes with OpenCode and needs no login"));
    }
    match (found.has_key, found.is_usable()) {
        (true, _) => Finding::ok(Area::Provider, id, format!("{models}; has credentials, {source}")),
        (false, true) => {
            let detail = format!("{models}; has no credentials ({source}), which only a local provider can do without");
            Finding::ok(Area::Provider, id, detail)
        }
        (false, false) => {
            let detail = format!("{models}; has no credentials");
            Finding::warning(Area::Provider, id, detail).mended_by(format!("{LOG_IN} -p {id}"))
        }
    }
}

/// OpenCode's own offer is there, with a public key, before anybody logs in.
fn comes_with_opencode(id: &str, found: &Provider) -> bool {
    id == "opencode" && found.source == "custom"
}
