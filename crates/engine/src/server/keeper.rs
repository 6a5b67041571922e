//! The keeper: the process that owns one managed server. It starts it, watches its health and memory,
//! settles the work of clients that died, and ends it when nobody needs it.
//!
//! If the keeper dies, the guard between it and the server ends the server and all that it started.

use super::{
    SERVER_MARK,
    launch::{Launch, Launched, SHUTDOWN, launch},
    private::{create_password, log_file, remove_files},
};
use crate::{
    Context,
    owner::{is_gone, owner_of, this_process},
    recover::recover_abandoned,
};
use serde::{Deserialize, Serialize};
use std::{
    path::{Path, PathBuf},
    time::Duration,
};
use switchyard_agents::opencode::{Client, launch::server_environment};
use switchyard_core::{ServerId, config};
use switchyard_host::{GuardedChild, clock::now_micros, orphan, process::ProcessIdentity, tree};
use switchyard_store::{ErrorKind, ServerRecord, ServerState};
use tokio::time::{Instant, sleep};

const TICK: Duration = Duration::from_millis(500);
const STORE_PATIENCE: Duration = Duration::from_secs(60);
/// One missed health check may be a busy moment; two in a row are a wedge.
const WEDGED_AFTER: u32 = 2;

/// What a keeper is told when it is started. No secret is in it: it is visible in the process list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeeperOrder {
    pub server: ServerId,
    pub slot: String,
    pub fingerprint: String,
    pub binary: PathBuf,
    /// The store, so that the keeper opens the same one whatever its environment says.
    pub store: PathBuf,
    pub data_dir: PathBuf,
    /// The server's settings as its starter has them: files may say something else by now.
    pub settings: config::Server,
    /// End with this process: for tests and build machines, which must leave nothing behind.
    pub owner_pid: Option<u32>,
}

impl KeeperOrder {
    #[must_use]
    pub fn new(context: &Context, server: ServerId, slot: String, fingerprint: &str, binary: &Path) -> Self {
        Self {
            server,
            slot,
            fingerprint: fingerprint.to_owned(),
            binary: binary.to_owned(),
            store: context.store_path.clone(),
            data_dir: context.paths.data_dir.clone(),
            settings: context.config.server.clone(),
            owner_pid: context.variable("SWITCHYARD_SERVER_OWNER_PID").and_then(|pid| pid.parse().ok()),
        }
    }
}

/// Runs one managed server to its end. Returns the problem when it could not be started.
pub async fn keep(context: &Context, order: &KeeperOrder) -> Result<(), String> {
    // On systems without subreapers the guard alone answers for orphans.
    drop(orphan::become_subreaper());
    let mut record = first_record(order)?;
    context.store.put_server(&record).await.map_err(|error| error.to_string())?;
    let started = start(context, order).await;
    let Launched { mut guarded, client, url, version } = match started {
        Ok(started) => started,
        Err(problem) => {
            record.state = ServerState::Failed;
            record.problem = Some(problem.clone());
            record.changed_at = now_micros();
            drop(context.store.put_server(&record).await);
            remove_files(&context.servers_dir(), order.server, true);
            return Err(problem);
        }
    };
    record.state = ServerState::Ready;
    record.url = url;
    record.version = version;
    record.process = Some(owner_of(guarded.identity()));
    record.changed_at = now_micros();
    let stored = context.store.put_server(&record).await.map_err(|error| error.to_string());
    if stored.is_ok() {
        let why = watch(context, order, &mut guarded, &client).await;
        tracing::info!(server = %order.server, why, "the server is ended");
    }
    end(context, order, guarded).await;
    stored
}

fn first_record(order: &KeeperOrder) -> Result<ServerRecord, String> {
    let now = now_micros();
    Ok(ServerRecord {
        id: order.server,
        slot: order.slot.clone(),
        state: ServerState::Starting,
        url: String::new(),
        version: String::new(),
        fingerprint: order.fingerprint.clone(),
        keeper: this_process().map_err(|error| error.to_string())?,
        process: None,
        started_at: now,
        changed_at: now,
        problem: None,
    })
}

async fn start(context: &Context, order: &KeeperOrder) -> Result<Launched, String> {
    let servers = context.servers_dir();
    let password = create_password(&servers, order.server).map_err(|error| error.to_string())?;
    let database = servers.join(format!("{}.db", order.slot));
    let mut variables = server_environment(context.environment.clone(), &database, &password);
    variables.push((SERVER_MARK.to_owned(), order.server.to_string()));
    launch(Launch {
        program: &context.program,
        binary: &order.binary,
        variables,
        password,
        directory: &servers,
        log: &log_file(&servers, order.server),
        patience: context.config.server.start_timeout.0.unwrap_or(Duration::from_secs(600)),
    })
    .await
}

/// Watches until the server has to end, and says why.
async fn watch(context: &Context, order: &KeeperOrder, guarded: &mut GuardedChild, client: &Client) -> &'static str {
    let settings = &context.config.server;
    let mut terminated = std::pin::pin!(terminated());
    let mut last_use = Instant::now();
    let mut store_seen = Instant::now();
    let mut next_health = Instant::now();
    let mut missed = 0;
    loop {
        tokio::select! {
            () = &mut terminated => return "it was told to end",
            () = sleep(TICK) => {}
        }
        if guarded.try_wait().is_ok_and(|status| status.is_some()) {
            return "it ended by itself";
        }
        if order.owner_pid.is_some_and(|pid| ProcessIdentity::of(pid).is_none_or(|owner| !owner.is_alive())) {
            return "the process that it belongs to is gone";
        }
        match step(context, order).await {
            Ok(Step::InUse) => (store_seen, last_use) = (Instant::now(), Instant::now()),
            Ok(Step::Unused) => store_seen = Instant::now(),
            Ok(Step::End(why)) => return why,
            Err(()) if store_seen.elapsed() > STORE_PATIENCE => return "the store is out of reach",
            Err(()) => {}
        }
        let too_large = || tree::resident_bytes(&[guarded.identity().pid]) > settings.memory_limit_mib << 20;
        let idle = settings.idle_timeout.0.is_some_and(|limit| last_use.elapsed() >= limit);
        let unused = last_use.elapsed() > TICK;
        if Instant::now() >= next_health {
            next_health = Instant::now() + settings.health_interval.0.unwrap_or(Duration::from_secs(10));
            let deadline = settings.health_timeout.0.unwrap_or(Duration::from_secs(10));
            missed = if client.health(deadline).await.is_ok() { 0 } else { missed + 1 };
            if missed >= WEDGED_AFTER {
                return "it no longer answers";
            }
            if unused && too_large() && drained(context, order).await {
                return "it has grown too large";
            }
        }
        if idle && drained(context, order).await {
            return "nobody used it for a while";
        }
    }
}

enum Step {
    InUse,
    Unused,
    End(&'static str),
}

/// One look at the store: leases of the dead are settled, and orders to end are obeyed.
async fn step(context: &Context, order: &KeeperOrder) -> Result<Step, ()> {
    let leases = context.store.leases(order.server).await.map_err(|_| ())?;
    let mut in_use = false;
    for lease in leases {
        if is_gone(&lease.owner) {
            drop(recover_abandoned(context, Some(lease.holder)).await);
            context.store.release_lease(order.server, lease.holder).await.map_err(|_| ())?;
        } else {
            in_use = true;
        }
    }
    let servers = context.store.servers().await.map_err(|_| ())?;
    match servers.iter().find(|server| server.id == order.server).map(|server| server.state) {
        None => Ok(Step::End("it was removed from the registry")),
        Some(ServerState::Failed) => Ok(Step::End("a client found it broken")),
        Some(ServerState::Draining) if !in_use => Ok(Step::End("it was replaced or stopped")),
        Some(_) => Ok(if in_use { Step::InUse } else { Step::Unused }),
    }
}

/// Closes the server to new work; true when nobody slipped in before.
async fn drained(context: &Context, order: &KeeperOrder) -> bool {
    match context.store.set_server_state(order.server, ServerState::Draining, now_micros()).await {
        Ok(()) => context.store.leases(order.server).await.is_ok_and(|leases| leases.is_empty()),
        Err(error) => error.kind() == ErrorKind::NotFound,
    }
}

async fn end(context: &Context, order: &KeeperOrder, mut guarded: GuardedChild) {
    let ended = tokio::task::spawn_blocking(move || {
        let ended = guarded.shutdown(SHUTDOWN);
        orphan::sweep_children(&[]);
        ended
    });
    if !matches!(ended.await, Ok(Ok(_))) {
        tracing::warn!(server = %order.server, "the server's processes may not all have ended");
    }
    // The row goes last: while it is there, nobody else opens this server's database.
    drop(context.store.remove_server(order.server, now_micros()).await);
    remove_files(&context.servers_dir(), order.server, false);
    drop(std::fs::remove_dir_all(context.servers_dir().join(format!("{}.directories", order.server))));
}

async fn terminated() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}
