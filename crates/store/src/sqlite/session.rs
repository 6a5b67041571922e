//! OpenCode sessions that dispatches ran in and may run in again.

use super::{SqliteStore, fault::failed, row};
use crate::{ErrorKind, Result, SessionRecord, StoreError};
use sqlx::{query, query_as};
use switchyard_core::{Nano, Usage};

const PUT: &str = "
    INSERT INTO session (id, home, directory, model, state, used_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
    ON CONFLICT (id) DO UPDATE SET
        directory = excluded.directory, state = excluded.state, used_at = excluded.used_at";

const ONE: &str = "SELECT * FROM session WHERE id = ?1";

pub(super) const STALE: &str =
    "SELECT * FROM session WHERE state = 'kept' AND home = ?1 AND used_at < ?2 ORDER BY used_at, id LIMIT ?3";

const CLAIM: &str = "UPDATE session SET state = 'in_use', used_at = ?2 WHERE id = ?1 AND state = 'kept'";

pub(super) const SPENT: &str = "
    SELECT COALESCE(SUM(input_tokens), 0), COALESCE(SUM(output_tokens), 0), COALESCE(SUM(reasoning_tokens), 0),
        COALESCE(SUM(cache_read_tokens), 0), COALESCE(SUM(cache_write_tokens), 0), COALESCE(SUM(cost_nano), 0)
    FROM attempt WHERE session = ?1 AND ended_at IS NOT NULL";

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

pub(super) async fn spent(store: &SqliteStore, session: &str) -> Result<(Usage, Nano)> {
    let sums = query_as::<_, (i64, i64, i64, i64, i64, i64)>(SPENT).bind(session).fetch_one(&store.connections.readers);
    let (input, output, reasoning, cache_read, cache_write, cost) =
        sums.await.map_err(failed("sum what the session has cost"))?;
    let [input, output, reasoning, cache_read, cache_write] =
        [input, output, reasoning, cache_read, cache_write].map(i64::unsigned_abs);
    Ok((Usage { input, output, reasoning, cache_read, cache_write }, Nano(cost)))
}

pub(super) async fn stale(store: &SqliteStore, home: &str, before: i64, limit: u32) -> Result<Vec<SessionRecord>> {
    let rows = query(STALE).bind(home).bind(before).bind(limit).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read stale sessions"))?.iter().map(row::session).collect()
}

pub(super) async fn doomed(store: &SqliteStore, home: &str, limit: u32) -> Result<Vec<SessionRecord>> {
    let rows = query(DOOMED).bind(home).bind(limit).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read doomed sessions"))?.iter().map(row::session).collect()
}
