//! Dispatches: their beginning, their end, and reading them with their attempts.

use super::{
    SqliteStore, attempt, event,
    fault::failed,
    outcome, reservation, row,
    script::{Script, Write},
};
use crate::{
    AttemptRecord, Begun, DispatchEnd, DispatchRecord, ErrorKind, NewAttempt, NewDispatch, Result, RunStatus,
    StoreError,
};
use serde_json::{Value, json};
use shuntyard_core::{DispatchId, ErrorClass};
use sqlx::{Sqlite, query, sqlite::SqliteArguments};
use std::collections::HashMap;

const BEGIN: &str = "
    INSERT INTO dispatch (id, began_at, owner_host, owner_pid, owner_start, mode, requested, route,
                          directory, prompt_chars, status, warnings)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'running', '[]')";

const FINISH: &str = "
    UPDATE dispatch SET ended_at = ?, status = ?, error_class = ?, warnings = ?, route = coalesce(?, route)
    WHERE id = ?";

/// Whether it has ended, and which of some attempts have an outcome already.
pub(super) const STANDING: &str =
    concat!("SELECT ended_at IS NOT NULL AS ended, ", outcome::known!(), " FROM dispatch WHERE id = ?");

const ONE: &str = "SELECT * FROM dispatch WHERE id = ?1";

pub(super) const RECENT: &str = "SELECT * FROM dispatch ORDER BY began_at DESC, id DESC LIMIT ?1";

pub(super) const UNFINISHED: &str = "SELECT * FROM dispatch WHERE ended_at IS NULL ORDER BY began_at, id LIMIT ?1";

pub(super) const ATTEMPTS: &str = "
    SELECT * FROM attempt WHERE dispatch IN (SELECT value FROM json_each(?1)) ORDER BY dispatch, ordinal";

pub(super) async fn begin(store: &SqliteStore, dispatch: &NewDispatch) -> Result<()> {
    let mut script = Script::default();
    add_begin(&mut script, dispatch);
    script.commit(store, "begin the dispatch").await
}

/// A refusal is about the attempt alone: the dispatch has begun, and may go on with another.
pub(super) async fn begin_with(store: &SqliteStore, dispatch: &NewDispatch, first: &NewAttempt) -> Result<Begun> {
    const WHAT: &str = "begin the dispatch";
    if first.dispatch != dispatch.id {
        return Err(StoreError::new(ErrorKind::Conflict, "failed to begin: the attempt is another dispatch's"));
    }
    let mut script = Script::default();
    add_begin(&mut script, dispatch);
    let Some(reserve) = &first.reserve else {
        attempt::add(&mut script, first);
        script.commit(store, WHAT).await?;
        return Ok(Begun::Started);
    };
    let mut look = Script::default();
    reservation::ask_ceilings(&mut look, first, reserve);
    let (write, rows) = Write::after(store, look, WHAT).await?;
    let refused = reservation::refused(&rows, reserve)?;
    if refused.is_none() {
        attempt::add(&mut script, first);
        reservation::set_aside(&mut script, first, reserve);
    }
    write.commit(script).await?;
    Ok(refused.unwrap_or(Begun::Started))
}

/// The beginning, with its event.
fn add_begin(script: &mut Script, dispatch: &NewDispatch) {
    let id = dispatch.id.to_string();
    script
        .add(BEGIN)
        .bind(&id)
        .bind(dispatch.at)
        .bind(&dispatch.owner.host)
        .bind(dispatch.owner.pid)
        .bind(dispatch.owner.start)
        .bind(&dispatch.mode)
        .bind(dispatch.requested.to_string())
        .bind(dispatch.route.to_string())
        .bind(&dispatch.directory)
        .bind(row::signed(dispatch.prompt_chars));
    event::tell(script, dispatch.at, "dispatch.started", &id, &json!({ "mode": dispatch.mode }));
}

pub(super) async fn finish(store: &SqliteStore, dispatch: DispatchId, end: &DispatchEnd) -> Result<()> {
    refuse_running(end.status)?;
    let (mut look, mut script) = (Script::default(), Script::default());
    look.add(STANDING).bind(outcome::attempts_of(&end.outcomes)).bind(dispatch.to_string());
    let (write, rows) = Write::after(store, look, "finish the dispatch").await?;
    let Some(standing) = rows.first() else {
        return Err(StoreError::new(ErrorKind::NotFound, format!("there is no dispatch {dispatch}")));
    };
    // One that has ended before stays as it is.
    if !row::get(standing, "ended")? {
        add_end(&mut script, dispatch, end);
        for new in outcome::new_among(standing, &end.outcomes)? {
            outcome::add(&mut script, new);
        }
    }
    write.commit(script).await
}

/// The end, with its event.
fn add_end(script: &mut Script, dispatch: DispatchId, end: &DispatchEnd) {
    let id = dispatch.to_string();
    script
        .add(FINISH)
        .bind(end.at)
        .bind(end.status.as_str())
        .bind(end.error_class.map(ErrorClass::as_str))
        .bind(Value::from(end.warnings.clone()).to_string())
        .bind(end.route.as_ref().map(ToString::to_string))
        .bind(&id);
    let data = json!({ "status": end.status, "error_class": end.error_class });
    event::tell(script, end.at, "dispatch.finished", &id, &data);
}

/// An end that is none would leave a row that is never settled.
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
