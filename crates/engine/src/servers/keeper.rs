//! The keeper: the process that owns one managed server. It starts it, watches its health and memory, settles the work
//! of clients that died, and ends it when it is no longer needed.
//!
//! If the keeper dies, the guard between it and the server ends the server and all that it started.

use super::{
    SERVER_MARK,
    launch::{Launch, Launched, SHUTDOWN, launch},
    order::KeeperOrder,
    private::{create_password, log_file, remove_files},
    watch::{delete_doomed, watch},
};
use crate::{
    Context,
    base::owner::{is_gone, owner_of, this_process},
};
use shuntyard_agents::opencode::launch::server_environment;
use shuntyard_host::{GuardedChild, clock::now_micros, orphan, tree};
use shuntyard_store::ServerState;
use std::time::Duration;

const LAST_TIDYING: Duration = Duration::from_secs(3);

/// Whether another server has this slot: two must never open one database. Of two, the older id stays.
async fn slot_is_taken(context: &Context, order: &KeeperOrder) -> bool {
    let servers = context.store.servers().await.unwrap_or_default();
    servers.iter().any(|other| other.slot == order.slot && other.id < order.server && !is_gone(&other.keeper))
}

/// Runs one managed server to its end. Returns the problem when it could not be started.
pub async fn keep(context: &Context, order: &KeeperOrder) -> Result<(), String> {
    // On systems without subreapers the guard alone answers for orphans.
    drop(orphan::become_subreaper());
    let mut record = order.first_record(this_process().map_err(|error| error.to_string())?);
    context.store.put_server(&record).await.map_err(|error| error.to_string())?;
    if slot_is_taken(context, order).await {
        drop(context.store.remove_server(order.server, now_micros()).await);
        return Err("another server has this database".into());
    }
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
        tracing::info!(server = %order.server, why = why.as_str(), "the server is ended");
        let resident_bytes = tree::resident_bytes(&[guarded.identity().pid]);
        why.tell(context, order, resident_bytes, record.started_at).await;
        // A last chance for what waits to be deleted; what is missed now, the next server of this slot deletes.
        drop(tokio::time::timeout(LAST_TIDYING, delete_doomed(context, order, &client, None)).await);
    }
    end(context, order, guarded).await;
    stored
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

async fn end(context: &Context, order: &KeeperOrder, mut guarded: GuardedChild) {
    let ended = tokio::task::spawn_blocking(move || {
        let ended = guarded.shutdown(SHUTDOWN);
        orphan::sweep_children(&[]);
        ended
    });
    if !matches!(ended.await, Ok(Ok(_))) {
        tracing::warn!(server = %order.server, "the server's processes may not all have ended");
    }
    // The row goes last: while it is there, no other process opens this server's database.
    drop(context.store.remove_server(order.server, now_micros()).await);
    remove_files(&context.servers_dir(), order.server, false);
}
