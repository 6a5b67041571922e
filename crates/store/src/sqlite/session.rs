//! OpenCode sessions that dispatches ran in and may run in again.

use super::{SqliteStore, fault::failed, row};
use crate::{Result, SessionRecord};
use sqlx::query;

const PUT: &str = "
    INSERT INTO session (id, home, directory, model, state, used_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (id) DO UPDATE SET
        directory = excluded.directory, state = excluded.state, used_at = excluded.used_at";

const ONE: &str = "SELECT * FROM session WHERE id = ?1";

pub(super) const STALE: &str =
    "SELECT * FROM session WHERE state = 'kept' AND used_at < ?1 ORDER BY used_at, id LIMIT ?2";

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

pub(super) async fn stale(store: &SqliteStore, before: i64, limit: u32) -> Result<Vec<SessionRecord>> {
    let rows = query(STALE).bind(before).bind(limit).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read stale sessions"))?.iter().map(row::session).collect()
}

pub(super) async fn doomed(store: &SqliteStore, home: &str, limit: u32) -> Result<Vec<SessionRecord>> {
    let rows = query(DOOMED).bind(home).bind(limit).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read doomed sessions"))?.iter().map(row::session).collect()
}
