//! OpenCode sessions that dispatches ran in and may run in again.

use super::{SqliteStore, fault::failed, row};
use crate::{AttemptRecord, ErrorKind, Result, SessionRecord, StoreError};
use shuntyard_core::DispatchId;
use sqlx::query;

const PUT: &str = "
    INSERT INTO session (id, home, directory, model, state, used_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (id) DO UPDATE SET
        directory = excluded.directory, state = excluded.state, used_at = excluded.used_at";

const ONE: &str = "SELECT * FROM session WHERE id = ?1";

pub(super) const STALE: &str =
    "SELECT * FROM session WHERE state = 'kept' AND home = ?1 AND used_at < ?2 ORDER BY used_at, id LIMIT ?3";

const CLAIM: &str = "UPDATE session SET state = 'in_use', used_at = ?2 WHERE id = ?1 AND state = 'kept'";

pub(super) const ATTEMPTS: &str = "SELECT * FROM attempt WHERE session = ?1 ORDER BY rowid";

pub(super) const OF_UNKNOWN_COST: &str = "
    SELECT * FROM session
    WHERE state IN ('kept', 'doomed') AND home = ?1 AND EXISTS (
        SELECT 1 FROM attempt WHERE attempt.session = session.id AND cost_known = 0 AND ended_at IS NOT NULL)
    ORDER BY used_at DESC, id LIMIT ?2";

pub(super) const DOOMED: &str =
    "SELECT * FROM session WHERE state = 'doomed' AND home = ?1 ORDER BY used_at, id LIMIT ?2";

pub(super) async fn put(store: &SqliteStore, session: &SessionRecord) -> Result<()> {
    let mut transaction = store.write().await?;
    query(PUT)
        .bind(&session.id)
        .bind(&session.home)
        .bind(&session.directory)
        .bind(&session.model)
        .bind(session.state.as_str())
        .bind(session.used_at)
        .execute(&mut *transaction)
        .await
        .map_err(failed("keep the session"))?;
    transaction.commit().await.map_err(failed("keep the session"))
}

pub(super) async fn one(store: &SqliteStore, session: &str) -> Result<SessionRecord> {
    let found = query(ONE).bind(session).fetch_one(&store.connections.readers).await;
    row::session(&found.map_err(failed("read the session"))?)
}

pub(super) async fn claim(store: &SqliteStore, session: &str, now: i64) -> Result<()> {
    let mut transaction = store.write().await?;
    let changed = query(CLAIM).bind(session).bind(now).execute(&mut *transaction).await;
    let changed = changed.map_err(failed("claim the session"))?.rows_affected();
    transaction.commit().await.map_err(failed("claim the session"))?;
    if changed == 1 { Ok(()) } else { Err(StoreError::new(ErrorKind::Conflict, "the session cannot be taken")) }
}

pub(super) async fn attempts(store: &SqliteStore, session: &str) -> Result<Vec<(DispatchId, AttemptRecord)>> {
    let rows = query(ATTEMPTS).bind(session).fetch_all(&store.connections.readers).await;
    let rows = rows.map_err(failed("read the attempts of a session"))?;
    rows.iter().map(|row| Ok((row::parsed(row, "dispatch")?, row::attempt(row)?))).collect()
}

pub(super) async fn of_unknown_cost(store: &SqliteStore, home: &str, limit: u32) -> Result<Vec<SessionRecord>> {
    let rows = query(OF_UNKNOWN_COST).bind(home).bind(limit).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read sessions of unknown cost"))?.iter().map(row::session).collect()
}

pub(super) async fn stale(store: &SqliteStore, home: &str, before: i64, limit: u32) -> Result<Vec<SessionRecord>> {
    let rows = query(STALE).bind(home).bind(before).bind(limit).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read stale sessions"))?.iter().map(row::session).collect()
}

pub(super) async fn doomed(store: &SqliteStore, home: &str, limit: u32) -> Result<Vec<SessionRecord>> {
    let rows = query(DOOMED).bind(home).bind(limit).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read doomed sessions"))?.iter().map(row::session).collect()
}
