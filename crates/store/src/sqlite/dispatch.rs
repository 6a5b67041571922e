//! Dispatches: their beginning, their end, and reading them with their attempts.

use super::{SqliteStore, event, fault::failed, outcome, row};
use crate::{AttemptRecord, DispatchEnd, DispatchRecord, ErrorKind, NewDispatch, Result, RunStatus, StoreError};
use serde_json::{Value, json};
use sqlx::{Sqlite, query, sqlite::SqliteArguments};
use std::collections::HashMap;
use switchyard_core::{DispatchId, ErrorClass};

const BEGIN: &str = "
    INSERT INTO dispatch (id, began_at, owner_host, owner_pid, owner_start, mode, requested, route,
                          directory, prompt_chars, status, warnings)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 'running', '[]')";

const FINISH: &str = "
    UPDATE dispatch SET ended_at = ?2, status = ?3, error_class = ?4, warnings = ?5, route = coalesce(?6, route)
    WHERE id = ?1 AND ended_at IS NULL";

const ONE: &str = "SELECT * FROM dispatch WHERE id = ?1";

pub(super) const RECENT: &str = "SELECT * FROM dispatch ORDER BY began_at DESC, id DESC LIMIT ?1";

pub(super) const UNFINISHED: &str = "SELECT * FROM dispatch WHERE ended_at IS NULL ORDER BY began_at, id LIMIT ?1";

pub(super) const ATTEMPTS: &str = "
    SELECT * FROM attempt WHERE dispatch IN (SELECT value FROM json_each(?1)) ORDER BY dispatch, ordinal";

pub(super) async fn begin(store: &SqliteStore, dispatch: &NewDispatch) -> Result<()> {
    let mut transaction = store.write().await?;
    query(BEGIN)
        .bind(dispatch.id.to_string())
        .bind(dispatch.at)
        .bind(&dispatch.owner.host)
        .bind(dispatch.owner.pid)
        .bind(dispatch.owner.start)
        .bind(&dispatch.mode)
        .bind(dispatch.requested.to_string())
        .bind(dispatch.route.to_string())
        .bind(&dispatch.directory)
        .bind(row::signed(dispatch.prompt_chars))
        .execute(&mut *transaction)
        .await
        .map_err(failed("begin the dispatch"))?;
    let data = json!({ "mode": dispatch.mode });
    event::append(&mut transaction, dispatch.at, "dispatch.started", &dispatch.id.to_string(), &data).await?;
    transaction.commit().await.map_err(failed("begin the dispatch"))
}

pub(super) async fn finish(store: &SqliteStore, dispatch: DispatchId, end: &DispatchEnd) -> Result<()> {
    refuse_running(end.status)?;
    let id = dispatch.to_string();
    let mut transaction = store.write().await?;
    let ended = query(FINISH)
        .bind(&id)
        .bind(end.at)
        .bind(end.status.as_str())
        .bind(end.error_class.map(ErrorClass::as_str))
        .bind(Value::from(end.warnings.clone()).to_string())
        .bind(end.route.as_ref().map(ToString::to_string))
        .execute(&mut *transaction)
        .await
        .map_err(failed("finish the dispatch"))?;
    if ended.rows_affected() == 0 {
        // It ended before, or never began.
        query(ONE).bind(&id).fetch_one(&mut *transaction).await.map_err(failed("finish the dispatch"))?;
        return Ok(());
    }
    let data = json!({ "status": end.status, "error_class": end.error_class });
    event::append(&mut transaction, end.at, "dispatch.finished", &id, &data).await?;
    outcome::add(&mut transaction, &end.outcomes).await?;
    transaction.commit().await.map_err(failed("finish the dispatch"))
}

/// An end that is none would leave a row that nobody ever settles.
pub(super) fn refuse_running(status: RunStatus) -> Result<()> {
    if status == RunStatus::Running {
        return Err(StoreError::new(ErrorKind::Conflict, "failed to finish: `running` is not an end"));
    }
    Ok(())
}

pub(super) async fn one(store: &SqliteStore, dispatch: DispatchId) -> Result<DispatchRecord> {
    let mut found = load(store, query(ONE).bind(dispatch.to_string())).await?;
    found.pop().ok_or_else(|| StoreError::new(ErrorKind::NotFound, format!("there is no dispatch {dispatch}")))
}

pub(super) async fn recent(store: &SqliteStore, limit: u32) -> Result<Vec<DispatchRecord>> {
    load(store, query(RECENT).bind(limit)).await
}

pub(super) async fn unfinished(store: &SqliteStore, limit: u32) -> Result<Vec<DispatchRecord>> {
    load(store, query(UNFINISHED).bind(limit)).await
}

/// Reads dispatches and then all their attempts, in one snapshot of the database.
async fn load(
    store: &SqliteStore,
    dispatches: sqlx::query::Query<'_, Sqlite, SqliteArguments>,
) -> Result<Vec<DispatchRecord>> {
    let mut snapshot = store.connections.readers.begin().await.map_err(failed("read dispatches"))?;
    let rows = dispatches.fetch_all(&mut *snapshot).await.map_err(failed("read dispatches"))?;
    let mut records = rows.iter().map(row::dispatch).collect::<Result<Vec<_>>>()?;
    let ids: Vec<String> = records.iter().map(|record| record.id.to_string()).collect();
    let rows = query(ATTEMPTS)
        .bind(Value::from(ids).to_string())
        .fetch_all(&mut *snapshot)
        .await
        .map_err(failed("read attempts"))?;
    let mut attempts: HashMap<DispatchId, Vec<AttemptRecord>> = HashMap::new();
    for row in &rows {
        attempts.entry(row::parsed(row, "dispatch")?).or_default().push(row::attempt(row)?);
    }
    for record in &mut records {
        record.attempts = attempts.remove(&record.id).unwrap_or_default();
    }
    Ok(records)
}
