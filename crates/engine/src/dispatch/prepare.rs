//! Everything that can be refused before a model is asked.

use crate::{
    Context,
    server::{Acquired, Instance, ServerError},
};
use switchyard_agents::opencode::{ApiError, Client};
use switchyard_core::{
    ErrorClass,
    config::Config,
    dispatch::{BadRequest, Mode, Request},
    nearest::nearest,
    route::{Catalogue, Needs, Route, RouteError, check_names, resolve},
};
use switchyard_store::{ErrorKind, StoreError};

/// Why a request was not sent to any model.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    #[error(transparent)]
    BadRequest(#[from] BadRequest),
    #[error(transparent)]
    Route(#[from] RouteError),
    #[error("the directory {0} does not exist")]
    NoDirectory(String),
    #[error("OpenCode has no agent `{name}` here; it has: {known}")]
    UnknownAgent { name: String, known: String },
    #[error("OpenCode has no command `{name}` here; it has: {known}")]
    UnknownCommand { name: String, known: String },
    #[error("session {0} was not created by Switchyard on this server")]
    UnknownSession(String),
    #[error("session {session} lives on the server {server}")]
    ElsewhereSession { session: String, server: String },
    #[error("session {session} speaks with {model}; another model needs a session of its own")]
    OtherModel { session: String, model: String },
    #[error("session {session} works in {directory}")]
    OtherDirectory { session: String, directory: String },
    #[error("session {session} is busy with another prompt")]
    SessionBusy { session: String },
    #[error("the server was not ready for the prompt within {0}")]
    NotReady(String),
    #[error(transparent)]
    Server(#[from] ServerError),
    #[error(transparent)]
    Api(#[from] ApiError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("failed to look at this process: {0}")]
    Io(#[from] std::io::Error),
    #[error("cancelled before anything was sent")]
    Cancelled,
}

impl Refusal {
    /// The class, where the closed list has one for it.
    #[must_use]
    pub fn class(&self) -> Option<ErrorClass> {
        match self {
            Self::Route(RouteError::ProviderNotConnected { .. }) => Some(ErrorClass::ProviderNotConnected),
            Self::Route(RouteError::ModelNotFound { .. } | RouteError::VariantNotFound { .. }) => {
                Some(ErrorClass::ModelNotFound)
            }
            Self::Route(RouteError::CapabilityMissing { .. }) => Some(ErrorClass::CapabilityMissing),
            Self::Server(ServerError::NotLocated(_)) => Some(ErrorClass::OpencodeMissing),
            Self::Server(ServerError::Store(_)) | Self::Store(_) | Self::Io(_) => None,
            Self::Server(_) | Self::Api(_) => Some(ErrorClass::OpencodeUnhealthy),
            Self::Cancelled => Some(ErrorClass::Cancelled),
            Self::BadRequest(_)
            | Self::Route(_)
            | Self::NoDirectory(_)
            | Self::UnknownAgent { .. }
            | Self::UnknownCommand { .. }
            | Self::UnknownSession(_)
            | Self::ElsewhereSession { .. }
            | Self::OtherModel { .. }
            | Self::OtherDirectory { .. }
            | Self::SessionBusy { .. } => None,
            Self::NotReady(_) => Some(ErrorClass::Timeout),
        }
    }
}

/// What a run needs to know of the server.
#[derive(Debug)]
pub(super) struct Prepared {
    pub(super) route: Route,
    pub(super) catalogue: Catalogue,
    pub(super) agent: Option<String>,
}

/// Checks that need nothing but the request and the configuration, so that a command can make them before it
/// opens or creates anything.
pub fn check_locally(config: &Config, request: &Request) -> Result<(), Refusal> {
    request.check()?;
    check_names(&request.selector, config)?;
    if !request.directory.is_dir() {
        // OpenCode would take it and work in nowhere.
        return Err(Refusal::NoDirectory(request.directory.display().to_string()));
    }
    Ok(())
}

pub(super) async fn prepare(
    context: &Context,
    request: &Request,
    client: &Client,
    acquired: &Acquired,
    instance: &Instance,
) -> Result<Prepared, Refusal> {
    let needs = Needs { images: request.images.len(), tools: request.mode == Mode::Agent };
    let routing = route(context, request, needs, client, instance);
    let (routed, agent) = tokio::join!(routing, choose_agent(request, client, acquired));
    let (route, catalogue) = routed?;
    if let Some(session) = &request.session {
        check_session(context, session, &request.directory, &route, acquired, client).await?;
    }
    Ok(Prepared { route, catalogue, agent: agent? })
}

/// Chooses the model from what is known of the server; before anything is refused, the server is asked.
async fn route(
    context: &Context,
    request: &Request,
    needs: Needs,
    client: &Client,
    instance: &Instance,
) -> Result<(Route, Catalogue), Refusal> {
    if let Some(catalogue) = instance.known_catalogue()
        && let Ok(route) = resolve(&request.selector, needs, catalogue, &context.config)
    {
        return Ok((route, catalogue.clone()));
    }
    let catalogue = instance.read_catalogue(client).await?;
    let route = resolve(&request.selector, needs, &catalogue, &context.config)?;
    Ok((route, catalogue))
}

/// The agent that leads the run, known to exist: OpenCode says nothing useful about one that does not.
async fn choose_agent(request: &Request, client: &Client, acquired: &Acquired) -> Result<Option<String>, Refusal> {
    if request.mode == Mode::Command {
        let (name, _) = request.command();
        let known = client.commands().await?;
        if !known.iter().any(|command| command == name) {
            return Err(Refusal::UnknownCommand { name: name.to_owned(), known: short_list(name, &known) });
        }
    }
    match &request.agent {
        Some(name) => {
            let known = client.agents().await?;
            if known.contains(name) {
                return Ok(Some(name.clone()));
            }
            Err(Refusal::UnknownAgent { name: name.clone(), known: short_list(name, &known) })
        }
        // Our own agent exists on servers that we started.
        None if request.mode == Mode::Text && acquired.managed.is_some() => {
            Ok(Some(switchyard_agents::opencode::launch::TEXT_AGENT.to_owned()))
        }
        None => Ok(None),
    }
}

fn short_list(name: &str, known: &[String]) -> String {
    let near = nearest(name, known.iter().map(String::as_str), 3);
    let names = if near.is_empty() { known.iter().map(String::as_str).take(20).collect() } else { near };
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// A session may be continued only where it lives, by one prompt at a time, with its own model.
async fn check_session(
    context: &Context,
    session: &str,
    directory: &std::path::Path,
    route: &Route,
    acquired: &Acquired,
    client: &Client,
) -> Result<(), Refusal> {
    let unknown = || Refusal::UnknownSession(session.to_owned());
    let record = match context.store.session(session).await {
        Ok(record) if record.home == acquired.home => record,
        Ok(_) => return Err(unknown()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(unknown()),
        Err(error) => return Err(error.into()),
    };
    match client.session(session).await {
        Ok(_) => {}
        Err(ApiError::NotFound(_)) => return Err(unknown()),
        Err(error) => return Err(error.into()),
    }
    // OpenCode runs a session in its own directory and reports it only there, whatever the request says.
    if std::path::Path::new(&record.directory) != directory {
        return Err(Refusal::OtherDirectory { session: session.to_owned(), directory: record.directory });
    }
    if record.model != route.model.to_string() {
        return Err(Refusal::OtherModel { session: session.to_owned(), model: record.model });
    }
    if client.running().await?.contains_key(session) {
        return Err(Refusal::SessionBusy { session: session.to_owned() });
    }
    Ok(())
}
