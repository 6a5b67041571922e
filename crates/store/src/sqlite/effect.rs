//! What is to be done outside because of a change. It is taken for a while, so that of many only one performs it, and
//! is free again when that one has died.

use super::{
    SqliteStore,
    fault::failed,
    row,
    task::{json, structured},
};
use crate::{EffectRecord, ErrorKind, Result, StoreError};
use shuntyard_core::work::task::Effect;
use sqlx::{SqliteConnection, query, query_scalar, sqlite::SqliteRow};

pub(super) const WAITING: &str = "
    SELECT EXISTS (SELECT 1 FROM effect INDEXED BY effect_open WHERE done_at IS NULL AND free_at <= ?1)";

/// A moment that is too late to be written is the last one.
pub(super) const TAKE: &str = "
    UPDATE effect SET tries = tries + 1, free_at = ?2
    WHERE id IN (
        SELECT id FROM effect INDEXED BY effect_open WHERE done_at IS NULL AND free_at <= ?1 ORDER BY id LIMIT ?3)
    RETURNING id, task, epoch, at, data, tries";

const FINISH: &str = "UPDATE effect SET done_at = ?2, result = ?3 WHERE id = ?1 AND done_at IS NULL";

const DEFER: &str = "UPDATE effect SET free_at = ?2, result = ?3 WHERE id = ?1 AND done_at IS NULL";

const IS_THERE: &str = "SELECT EXISTS (SELECT 1 FROM effect WHERE id = ?1)";

/// Of the store itself, and counted as tried once: the process that adds it performs it.
const ADD: &str = "
    INSERT INTO effect (task, epoch, at, kind, data, free_at, tries) VALUES (NULL, 0, ?1, ?2, ?3, ?4, 1) RETURNING id";

pub(super) async fn add(transaction: &mut SqliteConnection, effect: &Effect, now: i64, free_at: i64) -> Result<i64> {
    let added = query_scalar(ADD).bind(now).bind(effect.kind()).bind(json(effect)?).bind(free_at);
    added.fetch_one(transaction).await.map_err(failed("note what is to be done"))
}

/// The tries of each are counted with this one.
pub(super) async fn take(store: &SqliteStore, now: i64, lease: i64, limit: u32) -> Result<Vec<EffectRecord>> {
    // A process that polls does not delay writers.
    let waiting: bool = query_scalar(WAITING)
        .bind(now)
        .fetch_one(&store.connections.readers)
        .await
        .map_err(failed("look for what is to be done"))?;
    if !waiting {
        return Ok(Vec::new());
    }
    let mut transaction = store.write().await?;
    let taken = query(TAKE).bind(now).bind(now.saturating_add(lease)).bind(limit).fetch_all(&mut *transaction).await;
    let taken = taken.map_err(failed("take what is to be done"))?.iter().map(record).collect::<Result<Vec<_>>>();
    let mut taken = taken?;
    transaction.commit().await.map_err(failed("take what is to be done"))?;
    // SQLite returns what it updates in no promised order.
    taken.sort_by_key(|effect| effect.id);
    Ok(taken)
}

pub(super) async fn finish(store: &SqliteStore, id: i64, now: i64, result: &str) -> Result<()> {
    close(store, FINISH, id, now, result).await
}

/// One that is never tried again is done, with what was in its way.
pub(super) async fn defer(store: &SqliteStore, id: i64, now: i64, problem: &str, again_at: Option<i64>) -> Result<()> {
    match again_at {
        Some(again_at) => close(store, DEFER, id, again_at, problem).await,
        None => close(store, FINISH, id, now, problem).await,
    }
}

async fn close(store: &SqliteStore, sql: &'static str, id: i64, at: i64, result: &str) -> Result<()> {
    let mut transaction = store.write().await?;
    let written = query(sql).bind(id).bind(at).bind(result).execute(&mut *transaction).await;
    if written.map_err(failed("note what was done"))?.rows_affected() == 0 {
        let there: bool =
            query_scalar(IS_THERE).bind(id).fetch_one(&mut *transaction).await.map_err(failed("note what was done"))?;
        let missing = || StoreError::new(ErrorKind::NotFound, format!("there is no effect {id}"));
        return if there { Ok(()) } else { Err(missing()) };
    }
    transaction.commit().await.map_err(failed("note what was done"))
}

fn record(row: &SqliteRow) -> Result<EffectRecord> {
    Ok(EffectRecord {
        id: row::get(row, "id")?,
        task: row::optional_word(row, "task", |text| text.parse().ok())?,
        epoch: row::get(row, "epoch")?,
        at: row::get(row, "at")?,
        effect: structured(row, "data")?,
        tries: row::get(row, "tries")?,
    })
}
