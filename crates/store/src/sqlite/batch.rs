//! Batches: tasks that are limited and paused together. Whether one is paused is kept with the batch alone, so that
//! pausing costs the same for ten tasks and for a hundred thousand.

use super::{SqliteStore, event, fault::failed, row, task::json};
use crate::{BatchRecord, ErrorKind, Result, StoreError};
use serde_json::json;
use shuntyard_core::work::task::TaskId;
use sqlx::{query, query_scalar, sqlite::SqliteRow};
use std::collections::BTreeSet;

const CREATE: &str = "INSERT INTO task_batch (name, concurrency, paused, created_at) VALUES (?1, ?2, ?3, ?4)";

pub(super) const ALL: &str = "SELECT * FROM task_batch ORDER BY created_at, name";

const PAUSE: &str = "UPDATE task_batch SET paused = ?2 WHERE name = ?1 AND paused <> ?2";

const IS_THERE: &str = "SELECT EXISTS (SELECT 1 FROM task_batch WHERE name = ?1)";

/// A claim that was prepared for the old batch is stale by then. The plus sign keeps SQLite from looking at all that
/// are queued.
pub(super) const JOIN: &str = "
    UPDATE task SET batch = ?1, version = version + 1
    WHERE id IN (SELECT value FROM json_each(?2)) AND +phase = 'queued'";

pub(super) async fn create(store: &SqliteStore, batch: &BatchRecord) -> Result<()> {
    let mut transaction = store.write().await?;
    query(CREATE)
        .bind(&batch.name)
        .bind(batch.concurrency)
        .bind(batch.paused)
        .bind(batch.created_at)
        .execute(&mut *transaction)
        .await
        .map_err(failed("create the batch"))?;
    let data = json!({ "concurrency": batch.concurrency, "paused": batch.paused });
    event::append(&mut transaction, batch.created_at, "batch.created", &batch.name, &data).await?;
    transaction.commit().await.map_err(failed("create the batch"))
}

/// The oldest first.
pub(super) async fn all(store: &SqliteStore) -> Result<Vec<BatchRecord>> {
    let rows = query(ALL).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read the batches"))?.iter().map(record).collect()
}

pub(super) async fn join(store: &SqliteStore, name: &str, tasks: &[TaskId], now: i64) -> Result<()> {
    let wanted: BTreeSet<&TaskId> = tasks.iter().collect();
    let mut transaction = store.write().await?;
    let there: bool =
        query_scalar(IS_THERE).bind(name).fetch_one(&mut *transaction).await.map_err(failed("join the batch"))?;
    if !there {
        return Err(StoreError::new(ErrorKind::Conflict, format!("there is no batch {name}")));
    }
    let joined = query(JOIN).bind(name).bind(json(&wanted)?).execute(&mut *transaction).await;
    let joined = joined.map_err(failed("join the batch"))?.rows_affected();
    if usize::try_from(joined) != Ok(wanted.len()) {
        let what = format!("failed to put tasks into batch {name}: only tasks that are queued can join");
        return Err(StoreError::new(ErrorKind::Conflict, what));
    }
    event::append(&mut transaction, now, "batch.joined", name, &json!({ "tasks": joined })).await?;
    transaction.commit().await.map_err(failed("join the batch"))
}

pub(super) async fn pause(store: &SqliteStore, name: &str, paused: bool, now: i64) -> Result<()> {
    let mut transaction = store.write().await?;
    let changed = query(PAUSE).bind(name).bind(paused).execute(&mut *transaction).await;
    if changed.map_err(failed("pause the batch"))?.rows_affected() == 0 {
        let there: bool =
            query_scalar(IS_THERE).bind(name).fetch_one(&mut *transaction).await.map_err(failed("pause the batch"))?;
        let missing = || StoreError::new(ErrorKind::NotFound, format!("there is no batch {name}"));
        return if there { Ok(()) } else { Err(missing()) };
    }
    let kind = if paused { "batch.paused" } else { "batch.resumed" };
    event::append(&mut transaction, now, kind, name, &json!({})).await?;
    transaction.commit().await.map_err(failed("pause the batch"))
}

pub(super) fn record(row: &SqliteRow) -> Result<BatchRecord> {
    Ok(BatchRecord {
        name: row::get(row, "name")?,
        concurrency: row::get(row, "concurrency")?,
        paused: row::get(row, "paused")?,
        created_at: row::get(row, "created_at")?,
    })
}
