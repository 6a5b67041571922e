//! Getting hold of a server: find one that fits and take a lease on it, or start one.
//!
//! The lease is taken in the store before the first request, and only on a server that is ready, so a
//! keeper that has decided to end its server can never take it away from under a new request.

use super::{
    fingerprint::fingerprint,
    order::KeeperOrder,
    private::{endpoint_of, log_file},
    registry::prune,
};
use crate::{
    Context,
    base::{owner::this_process, refusal::ServerError},
};
use futures_util::future::BoxFuture;
use shuntyard_agents::opencode::{
    Client, Endpoint, EventHub, TESTED_VERSION,
    locate::{Located, NotLocated, Search, locate},
};
use shuntyard_core::{DispatchId, ServerId, settings::Config};
use shuntyard_host::{clock::now_micros, detached::spawn_detached, paths::private_dir};
use shuntyard_store::{ErrorKind, Lease, ServerRecord, ServerState};
use std::{collections::BTreeMap, fs::File, path::Path, process::Child, time::Duration};
use tokio::time::{Instant, sleep};
use uuid::Uuid;

const PATIENCE: Duration = Duration::from_secs(5);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// Which server will do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Want {
    Any,
    /// The one with this database, because a session lives there.
    Slot(String),
}

/// A server to talk to. A managed one stays until [`release`].
#[derive(Debug)]
pub struct Acquired {
    pub client: Client,
    /// The server's events. On a managed server the connection is still to be waited for: it is the sign that the
    /// server is behind the port.
    pub hub: EventHub,
    pub version: String,
    /// Where its sessions live: a slot or the user's address.
    pub home: String,
    pub managed: Option<ServerId>,
    /// What it was started with, or the user's address.
    pub surroundings: String,
    pub warnings: Vec<String>,
}

// Boxed, so that the body is compiled once and not in every crate that awaits it.
pub fn acquire<'a>(
    context: &'a Context,
    holder: DispatchId,
    want: &'a Want,
) -> BoxFuture<'a, Result<Acquired, ServerError>> {
    Box::pin(async move {
        if !context.config.server.url.is_empty() {
            return connect_named(context).await;
        }
        let binary = locate_binary(context)?;
        let print = fingerprint(context, &binary.path);
        let patience = context.config.server.start_timeout.0.unwrap_or(Duration::from_secs(600));
        let deadline = Instant::now() + patience;
        loop {
            let servers = prune(context).await?;
            for server in servers.iter().filter(|server| fits(server, &print, want)) {
                if let Some(acquired) = try_lease(context, server, holder).await? {
                    return Ok(acquired);
                }
            }
            let starting =
                servers.iter().any(|server| server.state == ServerState::Starting && server.fingerprint == print);
            if !starting {
                start(context, &binary.path, &print, want, deadline).await?;
            }
            if Instant::now() >= deadline {
                return Err(ServerError::DidNotStart("no server was ready in time".into()));
            }
            sleep(LOOK_AGAIN).await;
        }
    })
}

/// Gives a managed server back.
pub async fn release(context: &Context, acquired: Acquired, holder: DispatchId) {
    acquired.hub.close().await;
    if let Some(server) = acquired.managed
        && let Err(error) = context.store.release_lease(server, holder).await
    {
        // The keeper finds leases of dead processes by itself; this one ends with us at the latest.
        tracing::warn!(%error, "a lease could not be released");
    }
}

pub fn locate_binary(context: &Context) -> Result<Located, NotLocated> {
    locate_with(&context.config, &context.environment, &context.installs_dir())
}

/// The same without a store, for those who look at what is wrong.
pub fn locate_with(
    config: &Config,
    environment: &BTreeMap<String, String>,
    installs: &Path,
) -> Result<Located, NotLocated> {
    let variable = |name| environment.get(name).map(String::as_str).filter(|value| !value.is_empty());
    let home = variable("HOME").map(Path::new);
    locate(&Search { configured: &config.server.binary, search_path: variable("PATH"), home, installs })
}

async fn connect_named(context: &Context) -> Result<Acquired, ServerError> {
    let endpoint = Endpoint { url: context.config.server.url.clone(), password: context.server_password.clone() };
    let client = Client::new(&endpoint)?.with_call_timeout(context.config.server.call_timeout.0);
    let health = client.health(PATIENCE).await?;
    let hub = EventHub::start(&client);
    let mut warnings: Vec<String> = version_warning(&health.version).into_iter().collect();
    if !hub.wait_connected(PATIENCE).await {
        warnings.push("the server sends no events; its state is asked for instead".into());
    }
    let surroundings = context.config.server.url.clone();
    let home = client.address();
    Ok(Acquired { home, client, hub, version: health.version, managed: None, surroundings, warnings })
}

fn fits(server: &ServerRecord, print: &str, want: &Want) -> bool {
    server.state == ServerState::Ready
        && match want {
            Want::Any => server.fingerprint == print && !is_own(&server.slot),
            // Only one server can have this database open; with which settings is second to that.
            Want::Slot(slot) => server.slot == *slot,
        }
}

/// The slots of servers that each belong to one worker only.
pub(crate) const OWN_SLOT: &str = "worker-";

fn is_own(slot: &str) -> bool {
    slot.starts_with(OWN_SLOT)
}

async fn try_lease(
    context: &Context,
    server: &ServerRecord,
    holder: DispatchId,
) -> Result<Option<Acquired>, ServerError> {
    let lease = Lease { server: server.id, holder, owner: this_process()?, at: now_micros() };
    match context.store.take_lease(&lease).await {
        Ok(()) => {}
        Err(error) if matches!(error.kind(), ErrorKind::Conflict | ErrorKind::NotFound) => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    if let Ok(endpoint) = endpoint_of(context, server) {
        let client = Client::new(&endpoint)?.with_call_timeout(context.config.server.call_timeout.0);
        let hub = EventHub::start(&client);
        let version = server.version.clone();
        let warnings = version_warning(&version).into_iter().collect();
        let (home, managed) = (server.slot.clone(), Some(server.id));
        let surroundings = server.fingerprint.clone();
        return Ok(Some(Acquired { client, hub, version, home, managed, surroundings, warnings }));
    }
    give_up(context, server.id).await;
    drop(context.store.release_lease(server.id, holder).await);
    Ok(None)
}

/// Says that a managed server did not do what it should. It gets no new work; whether what it still has must
/// be ended as well, its keeper decides by its own health checks: one slow call proves nothing.
pub(crate) async fn give_up(context: &Context, server: ServerId) {
    // A server that is gone from the registry needs no more giving up.
    drop(context.store.set_server_state(server, ServerState::Draining, now_micros()).await);
}

/// Starts a keeper and waits until its server is ready or has failed. A lock makes sure that commands
/// that begin at the same moment start one server, not one each.
async fn start(
    context: &Context,
    binary: &Path,
    print: &str,
    want: &Want,
    deadline: Instant,
) -> Result<(), ServerError> {
    let servers_dir = context.servers_dir();
    private_dir(&servers_dir)?;
    let lock = File::create(servers_dir.join("start.lock"))?;
    while lock.try_lock().is_err() {
        if Instant::now() >= deadline {
            return Err(ServerError::DidNotStart("another command has been starting one for too long".into()));
        }
        sleep(LOOK_AGAIN).await;
    }
    let servers = prune(context).await?;
    let usable = |server: &ServerRecord| server.state != ServerState::Failed && server.state != ServerState::Draining;
    let shared = |server: &ServerRecord| server.fingerprint == print && !is_own(&server.slot);
    if *want == Want::Any && servers.iter().any(|server| usable(server) && shared(server)) {
        return Ok(());
    }
    let taken = |slot: &str| servers.iter().any(|server| server.slot == slot);
    let slot = match want {
        Want::Slot(slot) if taken(slot) => return Ok(()),
        Want::Slot(slot) => slot.clone(),
        Want::Any => (0..).map(|number| format!("slot-{number}")).find(|slot| !taken(slot)).unwrap_or_default(),
    };
    retire_others(context, &servers, print).await;
    let order = KeeperOrder::new(context, ServerId(Uuid::now_v7()), slot, print, binary);
    let json = serde_json::to_string(&order).map_err(std::io::Error::other)?;
    // The slot is taken before the lock is given back, whatever happens to this process meanwhile.
    context.store.put_server(&order.first_record(this_process()?)).await?;
    let log = log_file(&servers_dir, order.server);
    let mut keeper = spawn_detached(&context.program, ["keeper", &json], &context.environment, &servers_dir, &log)?;
    wait_ready(context, &order, &mut keeper, deadline).await
}

/// Servers with an older configuration finish what they have and go.
async fn retire_others(context: &Context, servers: &[ServerRecord], print: &str) {
    for server in servers.iter().filter(|server| server.state == ServerState::Ready && server.fingerprint != print) {
        drop(context.store.set_server_state(server.id, ServerState::Draining, now_micros()).await);
    }
}

async fn wait_ready(
    context: &Context,
    order: &KeeperOrder,
    keeper: &mut Child,
    deadline: Instant,
) -> Result<(), ServerError> {
    loop {
        // Looked at before the row: a keeper writes its reason there and then ends.
        let ended = keeper.try_wait()?;
        let row = context.store.servers().await?.into_iter().find(|server| server.id == order.server);
        match row {
            Some(server) if server.state == ServerState::Ready => return Ok(()),
            Some(ServerRecord { state: ServerState::Failed, problem, .. }) => {
                let problem = problem.unwrap_or_else(|| "no reason was given".into());
                drop(context.store.remove_server(order.server, now_micros()).await);
                return Err(ServerError::DidNotStart(problem));
            }
            _ => {}
        }
        if let Some(status) = ended {
            let log = log_file(&context.servers_dir(), order.server);
            return Err(ServerError::DidNotStart(format!("its keeper ended ({status}); see {}", log.display())));
        }
        if Instant::now() >= deadline {
            return Err(ServerError::DidNotStart("it was not ready in time".into()));
        }
        sleep(LOOK_AGAIN).await;
    }
}

/// A release that we do not know may behave differently: a warning, never a guess.
pub(crate) fn version_warning(version: &str) -> Option<String> {
    let major_minor = |text: &str| text.split('.').take(2).map(str::to_owned).collect::<Vec<_>>();
    let major = |text: &str| text.split('.').next().map(str::to_owned);
    if version.is_empty() {
        Some("the server does not tell its version".into())
    } else if major(version) != major(TESTED_VERSION) {
        Some(format!("OpenCode {version} is another major version than {TESTED_VERSION}, which was tested"))
    } else if major_minor(version) != major_minor(TESTED_VERSION) {
        Some(format!("OpenCode {version} was not tested with this release ({TESTED_VERSION} was)"))
    } else {
        None
    }
}
