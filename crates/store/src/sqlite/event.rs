//! The event log. Others wait on it, so an event is written by the transaction that it reports.

use super::{SqliteStore, fault::failed, row, script::Script};
use crate::{Event, Result};
use serde_json::Value;
use sqlx::{SqliteConnection, query, query_scalar};

const APPEND: &str = "INSERT INTO event (at, kind, subject, data) VALUES (?, ?, ?, ?)";

pub(super) const AFTER: &str = "SELECT * FROM event WHERE position > ?1 ORDER BY position LIMIT ?2";

/// Appends as a part of the caller's script.
pub(super) fn tell(script: &mut Script, at: i64, kind: &str, subject: &str, data: &Value) {
    script.add(APPEND).bind(at).bind(kind).bind(subject).bind(data.to_string());
}

/// Appends within the caller's transaction and returns the position.
pub(super) async fn append(
    connection: &mut SqliteConnection,
    at: i64,
    kind: &str,
    subject: &str,
    data: &Value,
) -> Result<i64> {
    let appended = query(APPEND)
        .bind(at)
        .bind(kind)
        .bind(subject)
        .bind(data.to_string())
        .execute(connection)
        .await
        .map_err(failed("append an event"))?;
    Ok(appended.last_insert_rowid())
}

pub(super) async fn append_alone(store: &SqliteStore, at: i64, kind: &str, subject: &str, data: &Value) -> Result<i64> {
    let mut transaction = store.write().await?;
    let position = append(&mut transaction, at, kind, subject, data).await?;
    transaction.commit().await.map_err(failed("append an event"))?;
    Ok(position)
}

pub(super) async fn after(store: &SqliteStore, after: i64, limit: u32) -> Result<Vec<Event>> {
    let rows = query(AFTER).bind(after).bind(limit).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read events"))?.iter().map(row::event).collect()
}

/// Also right after the newest events were removed: a position is never given twice.
pub(super) async fn newest(store: &SqliteStore) -> Result<i64> {
    let newest: Option<i64> = query_scalar("SELECT seq FROM sqlite_sequence WHERE name = 'event'")
        .fetch_optional(&store.connections.readers)
        .await
        .map_err(failed("read the newest event"))?;
    Ok(newest.unwrap_or(0))
}

pub(super) async fn data_version(store: &SqliteStore) -> Result<i64> {
    query_scalar("SELECT data_version FROM pragma_data_version")
        .fetch_one(&store.connections.watcher)
        .await
        .map_err(failed("read the data version"))
}
