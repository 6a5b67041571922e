//! Runs as they are read: those of a task, those that hold one now, and those that ended last.

use super::{SqliteStore, fault::failed, row};
use crate::{Owner, Result, RunRecord};
use shuntyard_core::{Nano, experience::FailureMode, work::task::TaskId};
use sqlx::{query, sqlite::SqliteRow};

pub(super) const OF_TASK: &str = "SELECT * FROM run WHERE task = ?1 ORDER BY epoch";

pub(super) const LIVE: &str = "SELECT * FROM run WHERE ended_at IS NULL ORDER BY claimed_at, rowid";

pub(super) const ENDED: &str =
    "SELECT * FROM run WHERE ended_at IS NOT NULL ORDER BY ended_at DESC, rowid DESC LIMIT ?";

pub(super) async fn of_task(store: &SqliteStore, id: &TaskId) -> Result<Vec<RunRecord>> {
    read(query(OF_TASK).bind(id.as_str()).fetch_all(&store.connections.readers).await)
}

pub(super) async fn live(store: &SqliteStore) -> Result<Vec<RunRecord>> {
    read(query(LIVE).fetch_all(&store.connections.readers).await)
}

pub(super) async fn ended(store: &SqliteStore, limit: u32) -> Result<Vec<RunRecord>> {
    read(query(ENDED).bind(limit).fetch_all(&store.connections.readers).await)
}

fn read(rows: sqlx::Result<Vec<SqliteRow>>) -> Result<Vec<RunRecord>> {
    rows.map_err(failed("read the runs"))?.iter().map(record).collect()
}

pub(super) fn record(row: &SqliteRow) -> Result<RunRecord> {
    let worker = match row::get::<Option<String>>(row, "worker_host")? {
        Some(host) => Some(Owner { host, pid: row::get(row, "worker_pid")?, start: row::get(row, "worker_start")? }),
        None => None,
    };
    Ok(RunRecord {
        task: row::parsed(row, "task")?,
        epoch: row::get(row, "epoch")?,
        dispatch: row::optional_word(row, "dispatch", |text| text.parse().ok())?,
        repository: row::get(row, "repository")?,
        batch: row::get(row, "batch")?,
        parent: row::optional_word(row, "parent", |text| text.parse().ok())?,
        model: row::get(row, "model")?,
        answered: row::get(row, "answered")?,
        tier: row::get(row, "tier")?,
        host: row::get(row, "host")?,
        worker,
        claimed_at: row::get(row, "claimed_at")?,
        started_at: row::get(row, "started_at")?,
        progress_at: row::get(row, "progress_at")?,
        lease_until: row::get(row, "lease_until")?,
        ended_at: row::get(row, "ended_at")?,
        worktree: row::get(row, "worktree")?,
        branch: row::get(row, "branch")?,
        base: row::get(row, "base")?,
        outcome: row::get(row, "outcome")?,
        failure_mode: row::optional_word(row, "failure_mode", FailureMode::parse)?,
        detail: row::get(row, "detail")?,
        cost: Nano(row::get(row, "cost_nano")?),
        cost_known: row::get(row, "cost_known")?,
    })
}
