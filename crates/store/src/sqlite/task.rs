//! Tasks as they are read: one, a page of them, those whose moment has come, how many there are, and what happened to
//! one. Every listing walks an index in the order that is wanted and stops at the limit.

use super::{SqliteStore, fault::failed, row};
use crate::{ErrorKind, Event, PhaseCounts, Result, StoreError, TaskFilter, TaskRecord};
use serde::de::DeserializeOwned;
use shuntyard_core::work::task::{Phase, Task, TaskId};
use sqlx::{AssertSqlSafe, SqliteExecutor, query, query_scalar, sqlite::SqliteRow};

/// A task with what is kept about it in other tables.
macro_rules! select {
    ($rest:literal) => {
        concat!(
            "SELECT task.*,
                 (SELECT json_group_array(needs ORDER BY place) FROM dependency WHERE dependency.task = task.id)
                     AS depends_on,
                 coalesce((SELECT paused FROM task_batch WHERE name = task.batch), 0) AS paused
             FROM task",
            $rest
        )
    };
}

pub(super) const ONE: &str = select!(" WHERE id = ?");

pub(super) const DUE: &str = select!(" WHERE wakes_at <= ?1 ORDER BY wakes_at, number LIMIT ?2");

/// A task that was changed later than now waits for a clock that was set back.
const DUE_BY_ANY_CLOCK: &str =
    select!(" WHERE wakes_at IS NOT NULL AND (wakes_at <= ?1 OR changed_at > ?1) ORDER BY wakes_at, number LIMIT ?2");

pub(super) const LATEST_CHANGE: &str = "SELECT max(changed_at) FROM task WHERE wakes_at IS NOT NULL";

pub(super) const NEXT_DUE: &str = "SELECT min(wakes_at) FROM task WHERE wakes_at IS NOT NULL";

pub(super) const COUNTS: &str = "SELECT phase, count(*) AS tasks FROM task GROUP BY phase";

pub(super) const COUNTS_OF_BATCH: &str = "SELECT phase, count(*) AS tasks FROM task WHERE batch = ?1 GROUP BY phase";

pub(super) const EVENTS: &str = "
    SELECT * FROM event WHERE subject = ?1 AND position > ?2 AND kind >= 'task.' AND kind < 'task/'
    ORDER BY position LIMIT ?3";

pub(super) async fn one(executor: impl SqliteExecutor<'_>, id: &TaskId) -> Result<TaskRecord> {
    let found = query(ONE).bind(id.as_str()).fetch_optional(executor).await.map_err(failed("read the task"))?;
    record(&found.ok_or_else(|| unknown(id))?)
}

pub(super) fn unknown(id: &TaskId) -> StoreError {
    StoreError::new(ErrorKind::NotFound, format!("there is no task {id}"))
}

pub(super) async fn many(store: &SqliteStore, filter: &TaskFilter) -> Result<Vec<TaskRecord>> {
    // The text is put together from the constants below; all that is asked for is bound.
    let rows = query(AssertSqlSafe(sql(filter)))
        .bind(filter.phase.map(Phase::as_str))
        .bind(&filter.batch)
        .bind(&filter.repository)
        .bind(filter.after)
        .bind(filter.limit)
        .fetch_all(&store.connections.readers)
        .await;
    rows.map_err(failed("read tasks"))?.iter().map(record).collect()
}

/// Only the conditions that are there: SQLite uses no index for one that may not matter.
pub(super) fn sql(filter: &TaskFilter) -> String {
    let mut sql = String::from(select!(" WHERE number > ?4"));
    for (wanted, condition) in [
        (filter.phase.is_some(), " AND phase = ?1"),
        (filter.batch.is_some(), " AND batch = ?2"),
        (filter.repository.is_some(), " AND repository = ?3"),
    ] {
        if wanted {
            sql.push_str(condition);
        }
    }
    sql.push_str(" ORDER BY number LIMIT ?5");
    sql
}

/// Every phase is there, in its order, also one that no task is in.
pub(super) async fn counts(store: &SqliteStore, batch: Option<&str>) -> Result<PhaseCounts> {
    let wanted = match batch {
        Some(batch) => query(COUNTS_OF_BATCH).bind(batch),
        None => query(COUNTS),
    };
    let rows = wanted.fetch_all(&store.connections.readers).await.map_err(failed("count the tasks"))?;
    let mut counts: PhaseCounts = Phase::ALL.map(|phase| (phase, 0)).into();
    for row in &rows {
        let (phase, tasks) = (row::word(row, "phase", Phase::parse)?, row::count(row, "tasks")?);
        for (_, count) in counts.iter_mut().filter(|(known, _)| *known == phase) {
            *count = tasks;
        }
    }
    Ok(counts)
}

pub(super) async fn due(store: &SqliteStore, now: i64, limit: u32) -> Result<Vec<TaskRecord>> {
    // Going through all that wait is only worth it when one of them was changed at a time that is still to come.
    let latest: Option<i64> = query_scalar(LATEST_CHANGE)
        .fetch_one(&store.connections.readers)
        .await
        .map_err(failed("read the latest change"))?;
    let which = if latest.is_some_and(|latest| latest > now) { DUE_BY_ANY_CLOCK } else { DUE };
    let rows = query(which).bind(now).bind(limit).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read the tasks that are due"))?.iter().map(record).collect()
}

pub(super) async fn next_due(store: &SqliteStore) -> Result<Option<i64>> {
    let next = query_scalar(NEXT_DUE).fetch_one(&store.connections.readers).await;
    next.map_err(failed("read the next moment"))
}

pub(super) async fn events(store: &SqliteStore, id: &TaskId, after: i64, limit: u32) -> Result<Vec<Event>> {
    let rows = query(EVENTS).bind(id.as_str()).bind(after).bind(limit).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read the events of a task"))?.iter().map(row::event).collect()
}

pub(super) fn record(row: &SqliteRow) -> Result<TaskRecord> {
    let task = Task {
        id: row::parsed(row, "id")?,
        batch: row::get(row, "batch")?,
        parent: row::optional_word(row, "parent", |text| text.parse().ok())?,
        priority: row::get(row, "priority")?,
        depends_on: structured(row, "depends_on")?,
        spec: structured(row, "spec")?,
        state: structured(row, "state")?,
        tally: structured(row, "tally")?,
        epoch: row::get(row, "epoch")?,
        created_at: row::get(row, "created_at")?,
        changed_at: row::get(row, "changed_at")?,
    };
    Ok(TaskRecord {
        task,
        number: row::get(row, "number")?,
        version: row::get(row, "version")?,
        open_blockers: row::get(row, "open_blockers")?,
        paused: row::get(row, "paused")?,
        receipt: row::optional_word(row, "receipt", |text| text.parse().ok())?,
    })
}

/// A value that is kept as JSON.
pub(super) fn structured<T: DeserializeOwned>(row: &SqliteRow, column: &'static str) -> Result<T> {
    row::word(row, column, |text| serde_json::from_str(text).ok())
}

/// The same value for the database.
pub(super) fn json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(unwritable)
}

pub(super) fn unwritable(error: serde_json::Error) -> StoreError {
    StoreError::new(ErrorKind::Conflict, "failed to write a value that has no form in JSON").because(error)
}
