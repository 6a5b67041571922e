//! The registry of servers. Each change of a server is an event named after its new state.

use super::{SqliteStore, event, fault::failed, row};
use crate::{ErrorKind, Result, ServerRecord, ServerState, StoreError};
use serde_json::json;
use shuntyard_core::ServerId;
use sqlx::{SqliteConnection, query};

/// An update in place: replacing the row would take its leases with it.
const PUT: &str = "
    INSERT INTO server (id, slot, state, url, version, fingerprint, keeper_host, keeper_pid, keeper_start,
                        process_host, process_pid, process_start, started_at, changed_at, problem)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)
    ON CONFLICT (id) DO UPDATE SET
        slot = excluded.slot, state = excluded.state, url = excluded.url, version = excluded.version,
        fingerprint = excluded.fingerprint, keeper_host = excluded.keeper_host, keeper_pid = excluded.keeper_pid,
        keeper_start = excluded.keeper_start, process_host = excluded.process_host,
        process_pid = excluded.process_pid, process_start = excluded.process_start,
        started_at = excluded.started_at, changed_at = excluded.changed_at, problem = excluded.problem";

const SET_STATE: &str = "UPDATE server SET state = ?2, changed_at = ?3 WHERE id = ?1 RETURNING slot";

const ALL: &str = "SELECT * FROM server ORDER BY id";

const REMOVE: &str = "DELETE FROM server WHERE id = ?1 RETURNING slot";

pub(super) async fn put(store: &SqliteStore, server: &ServerRecord) -> Result<()> {
    let process = server.process.as_ref();
    let mut transaction = store.write().await?;
    query(PUT)
        .bind(server.id.to_string())
        .bind(&server.slot)
        .bind(server.state.as_str())
        .bind(&server.url)
        .bind(&server.version)
        .bind(&server.fingerprint)
        .bind(&server.keeper.host)
        .bind(server.keeper.pid)
        .bind(server.keeper.start)
        .bind(process.map(|process| &process.host))
        .bind(process.map(|process| process.pid))
        .bind(process.map(|process| process.start))
        .bind(server.started_at)
        .bind(server.changed_at)
        .bind(&server.problem)
        .execute(&mut *transaction)
        .await
        .map_err(failed("register the server"))?;
    announce(&mut transaction, server.changed_at, state_kind(server.state), server.id, &server.slot).await?;
    transaction.commit().await.map_err(failed("register the server"))
}

pub(super) async fn set_state(store: &SqliteStore, server: ServerId, state: ServerState, now: i64) -> Result<()> {
    let mut transaction = store.write().await?;
    let moved = query(SET_STATE)
        .bind(server.to_string())
        .bind(state.as_str())
        .bind(now)
        .fetch_optional(&mut *transaction)
        .await
        .map_err(failed("move the server"))?
        .ok_or_else(|| StoreError::new(ErrorKind::NotFound, format!("there is no server {server}")))?;
    announce(&mut transaction, now, state_kind(state), server, row::get(&moved, "slot")?).await?;
    transaction.commit().await.map_err(failed("move the server"))
}

pub(super) async fn all(store: &SqliteStore) -> Result<Vec<ServerRecord>> {
    let rows = query(ALL).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read the servers"))?.iter().map(row::server).collect()
}

pub(super) async fn remove(store: &SqliteStore, server: ServerId, now: i64) -> Result<()> {
    let mut transaction = store.write().await?;
    let removed = query(REMOVE)
        .bind(server.to_string())
        .fetch_optional(&mut *transaction)
        .await
        .map_err(failed("remove the server"))?;
    if let Some(removed) = removed {
        announce(&mut transaction, now, "server.removed", server, row::get(&removed, "slot")?).await?;
    }
    transaction.commit().await.map_err(failed("remove the server"))
}

fn state_kind(state: ServerState) -> &'static str {
    match state {
        ServerState::Starting => "server.starting",
        ServerState::Ready => "server.ready",
        ServerState::Draining => "server.draining",
        ServerState::Failed => "server.failed",
    }
}

/// The address and the problem stay in the row: an event announces that there is something to read.
async fn announce(
    connection: &mut SqliteConnection,
    at: i64,
    kind: &'static str,
    server: ServerId,
    slot: &str,
) -> Result<()> {
    event::append(connection, at, kind, &server.to_string(), &json!({ "slot": slot })).await.map(drop)
}
