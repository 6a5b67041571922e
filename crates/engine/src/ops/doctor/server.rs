//! The servers, and the providers that they are connected to.

use super::{Area, Finding, Patient, opencode::Binary};
use crate::{
    Context,
    base::refusal::ServerError,
    routing::catalogue::{self, Settings, Shelf},
    servers::{ServerStatus, Want, acquire, project_stamps, refresh_instance, release, statuses, version_warning},
};
use shuntyard_agents::opencode::ApiError;
use shuntyard_core::{
    DispatchId,
    routing::{Catalogue, Provider, Source},
    values::{duration, size},
};
use shuntyard_store::ServerState;
use uuid::Uuid;

/// The server that a dispatch would use now, the managed ones that there are, and the providers.
pub(super) async fn server_and_providers(
    patient: &Patient<'_>,
    binary: Option<&Binary>,
    progress: &dyn Fn(&str),
) -> Vec<Finding> {
    let not_looked = |why: &str| vec![Finding::warning(Area::Server, "servers", format!("not looked at: {why}"))];
    let Ok(context) = patient.context else { return not_looked("the store cannot be used") };
    if patient.configuration.is_err() {
        return not_looked("the configuration has to be fixed first");
    }
    let named = &context.config.server.url;
    let opencode = binary.map_or("opencode", |binary| binary.command.as_str());
    if named.is_empty() && binary.is_none() {
        let mut findings = managed(context).await;
        if findings.is_empty() {
            findings.push(Finding::ok(Area::Server, "managed", "none runs"));
        }
        findings.push(no_providers());
        return findings;
    }
    progress("asking OpenCode for its providers");
    let holder = DispatchId(Uuid::now_v7());
    let acquired = match acquire(context, holder, &Want::Any).await {
        Ok(acquired) => acquired,
        Err(error) => {
            let mut findings = vec![no_server(patient, &error, opencode), no_providers()];
            findings.extend(managed(context).await);
            return findings;
        }
    };
    let client = acquired.client.in_directory(patient.directory);
    // A warning of this check would only say that the providers may be those of a moment ago.
    let stamps = project_stamps(patient.directory);
    let warning = refresh_instance(context, acquired.managed, &client, patient.directory, &stamps).await;
    let shelf = Shelf::of(context, patient.directory);
    let catalogue = catalogue::ask(context, &client, &shelf, Settings::after(warning.as_ref())).await;
    let mut findings = match acquired.managed {
        Some(_) => managed(context).await,
        None => vec![named_server(named, &acquired.version)],
    };
    release(context, acquired, holder).await;
    match catalogue {
        Ok(catalogue) => findings.extend(providers(&catalogue, opencode)),
        Err(error) => findings.push(no_catalogue(&error, opencode)),
    }
    findings
}

fn no_providers() -> Finding {
    Finding::warning(Area::Provider, "providers", "not looked at: only a server knows them")
}

fn named_server(url: &str, version: &str) -> Finding {
    match version_warning(version) {
        Some(warning) => Finding::warning(Area::Server, "named", format!("{url} answers; {warning}")),
        None => Finding::ok(Area::Server, "named", format!("{url} answers, OpenCode {version}")),
    }
}

fn no_server(patient: &Patient<'_>, error: &ServerError, opencode: &str) -> Finding {
    if patient.config.server.url.is_empty() {
        // What keeps a server from starting is mostly OpenCode's own configuration, and this says what.
        return Finding::problem(Area::Server, "managed", error.to_string())
            .mended_by(format!("{opencode} debug config"));
    }
    let fix = match error {
        ServerError::Api(ApiError::Unauthorized(_)) => "export SHUNTYARD_OPENCODE_PASSWORD=…".to_owned(),
        _ => patient.unset(&["SHUNTYARD_OPENCODE_URL", "SHUNTYARD_SERVER_URL"], "server.url"),
    };
    Finding::problem(Area::Server, "named", error.to_string()).mended_by(fix)
}

fn no_catalogue(error: &ApiError, opencode: &str) -> Finding {
    let detail = format!("OpenCode does not tell its providers: {error}");
    Finding::problem(Area::Server, "providers", detail).mended_by(format!("{opencode} debug config"))
}

async fn managed(context: &Context) -> Vec<Finding> {
    match statuses(context).await {
        Ok(servers) => servers.iter().map(|server| managed_server(context, server)).collect(),
        Err(error) => vec![Finding::problem(Area::Store, "servers", error.to_string())],
    }
}

fn managed_server(context: &Context, server: &ServerStatus) -> Finding {
    let name = "managed";
    let memory = size::show(server.resident_bytes);
    let stop = "shuntyard opencode stop";
    match (&server.version, server.record.state) {
        (Some(version), ServerState::Ready | ServerState::Draining) => {
            let unused = match context.config.server.idle_timeout.0 {
                Some(limit) => format!("ends after {} without use", duration::show(limit)),
                None => "stays until it is stopped".to_owned(),
            };
            let detail = format!("{} answers, OpenCode {version}, {memory}; {unused}", server.record.url);
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

pub(super) fn providers(catalogue: &Catalogue, opencode: &str) -> Vec<Finding> {
    let mut findings: Vec<Finding> =
        catalogue.providers.iter().map(|(id, found)| provider(id, found, opencode)).collect();
    if !catalogue.providers.iter().any(|(id, found)| found.is_usable() && !comes_with_opencode(id, found)) {
        let detail = "no provider of your own is connected, so no paid model can be used";
        findings.push(Finding::warning(Area::Provider, "yours", detail).mended_by(format!("{opencode} auth login")));
    }
    findings
}

fn provider(id: &str, found: &Provider, opencode: &str) -> Finding {
    let models = found.models.len();
    let models = if models == 1 { "1 model".to_owned() } else { format!("{models} models") };
    let source = match found.source {
        Source::Env => "from a variable",
        Source::Config => "from OpenCode's configuration",
        Source::Api => "from a login",
        Source::Custom => "from OpenCode itself",
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
            Finding::warning(Area::Provider, id, detail).mended_by(format!("{opencode} auth login -p {id}"))
        }
    }
}

/// OpenCode's own offer is there, with a public key, before any login.
fn comes_with_opencode(id: &str, found: &Provider) -> bool {
    id == "opencode" && found.source == Source::Custom
}
