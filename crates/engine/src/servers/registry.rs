//! The managed servers that there are: pruned of the dead, shown, and stopped.

use super::{SERVER_MARK, endpoint_of, private::remove_files};
use crate::{
    Context,
    base::owner::{identity_of, is_gone},
    servers::recovery::recover_abandoned,
};
use shuntyard_agents::opencode::Client;
use shuntyard_host::{Signal, clock::now_micros, tree};
use shuntyard_store::{Result, ServerRecord, ServerState};
use std::time::Duration;
use tokio::time::{Instant, sleep};

const STOP_PATIENCE: Duration = Duration::from_secs(15);
const GRACE: Duration = Duration::from_secs(2);

#[derive(Debug, Clone)]
pub struct ServerStatus {
    pub record: ServerRecord,
    pub resident_bytes: u64,
    pub leases: usize,
    /// `None` when it did not answer.
    pub version: Option<String>,
}

/// Removes the rows of servers whose keeper is gone, and ends every process that such a server has
/// left behind. Returns the servers that remain.
pub async fn prune(context: &Context) -> Result<Vec<ServerRecord>> {
    let mut alive = Vec::new();
    for server in context.store.servers().await? {
        if !is_gone(&server.keeper) {
            alive.push(server);
            continue;
        }
        let mark = server.id.to_string();
        let survivors = tokio::task::spawn_blocking(move || tree::end_marked(SERVER_MARK, &mark, GRACE)).await;
        if let Ok(survivors) = survivors
            && !survivors.is_empty()
        {
            tracing::warn!(server = %server.id, ?survivors, "processes of a dead server could not be ended");
        }
        let keep_log = matches!(server.state, ServerState::Failed | ServerState::Starting);
        remove_files(&context.servers_dir(), server.id, keep_log);
        context.store.remove_server(server.id, now_micros()).await?;
    }
    Ok(alive)
}

/// Every managed server with what it uses.
pub async fn statuses(context: &Context) -> Result<Vec<ServerStatus>> {
    let mut found = Vec::new();
    for record in prune(context).await? {
        let leases = context.store.leases(record.id).await?.len();
        let root = record.process.as_ref().and_then(identity_of).map(|process| process.pid);
        let resident_bytes = root.map_or(0, |pid| tree::resident_bytes(&[pid]));
        let version = match endpoint_of(context, &record).map(|endpoint| Client::new(&endpoint)) {
            Ok(Ok(client)) => client.health(Duration::from_secs(3)).await.ok().map(|health| health.version),
            _ => None,
        };
        found.push(ServerStatus { record, resident_bytes, leases, version });
    }
    Ok(found)
}

/// What became of the servers that were asked to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped {
    pub ended: usize,
    pub left: usize,
}

/// Ends every managed server of this machine.
pub async fn stop_all(context: &Context) -> Result<Stopped> {
    let servers = prune(context).await?;
    for server in &servers {
        drop(context.store.set_server_state(server.id, ServerState::Draining, now_micros()).await);
        if let Some(keeper) = identity_of(&server.keeper) {
            keeper.signal(Signal::TERM);
        }
    }
    let deadline = Instant::now() + STOP_PATIENCE;
    // A keeper removes its row just before it goes; only when it has gone, everything has.
    let keepers: Vec<_> = servers.iter().filter_map(|server| identity_of(&server.keeper)).collect();
    while !prune(context).await?.is_empty() || keepers.iter().any(|keeper| keeper.is_alive()) {
        if Instant::now() >= deadline {
            // A keeper that does not go is ended, and what it kept is found by its mark.
            for server in context.store.servers().await? {
                if let Some(keeper) = identity_of(&server.keeper) {
                    keeper.signal(Signal::KILL);
                }
            }
        }
        if Instant::now() >= deadline + STOP_PATIENCE {
            break;
        }
        sleep(Duration::from_millis(50)).await;
    }
    // Work that was running there is settled with what can still be known.
    drop(recover_abandoned(context, None).await);
    let left = prune(context).await?.len();
    Ok(Stopped { ended: servers.len().saturating_sub(left), left })
}
