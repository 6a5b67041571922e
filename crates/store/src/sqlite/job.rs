//! Jobs as they are read: one, those that a filter lets through, those at work, the place of one in its line, and how
//! many there are.
//!
//! What is asked again and again costs nothing more for the jobs that are over.

use super::{SqliteStore, fault::failed, row, task::structured};
use crate::{ErrorKind, JobFilter, JobRecord, Owner, Result, StoreError};
use shuntyard_core::work::job::{JobId, JobKind, JobState};
use sqlx::{AssertSqlSafe, query, query_scalar, sqlite::SqliteRow};

pub(super) const ONE: &str = "SELECT * FROM job WHERE number = ?1";

pub(super) const RUNNING: &str = "SELECT * FROM job WHERE state = 'running' ORDER BY started_at, number";

pub(super) const POSITION: &str = "
    SELECT CASE mine.state WHEN 'queued' THEN
        (SELECT count(*) FROM job WHERE state = 'queued' AND worker IS mine.worker AND place < mine.place)
        + (SELECT count(*) FROM job WHERE state = 'running' AND worker IS mine.worker)
    END
    FROM job AS mine WHERE number = ?1";

/// Each state has an index with only its own jobs in it.
pub(super) const COUNTS: &str = "
    SELECT 'queued' AS state, count(*) AS jobs FROM job INDEXED BY job_queued WHERE state = 'queued'
    UNION ALL SELECT 'running', count(*) FROM job INDEXED BY job_running WHERE state = 'running'
    UNION ALL SELECT 'paused', count(*) FROM job INDEXED BY job_paused WHERE state = 'paused'";

pub(super) async fn one(store: &SqliteStore, id: JobId) -> Result<JobRecord> {
    let found = query(ONE).bind(id.0).fetch_optional(&store.connections.readers).await;
    record(&found.map_err(failed("read the job"))?.ok_or_else(|| missing(id))?)
}

pub(super) async fn many(store: &SqliteStore, filter: &JobFilter) -> Result<Vec<JobRecord>> {
    let states: Vec<&str> = filter.states.iter().map(|state| state.as_str()).collect();
    // The text is put together from the constants below; all that is asked for is bound.
    let rows = query(AssertSqlSafe(sql(filter)))
        .bind(super::task::json(&states)?)
        .bind(filter.kind.map(JobKind::as_str))
        .bind(&filter.worker)
        .bind(filter.limit)
        .fetch_all(&store.connections.readers)
        .await;
    rows.map_err(failed("read jobs"))?.iter().map(record).collect()
}

/// Walks the jobs of a worker, the few that are not over, or else all of them from the newest on. The plus signs keep
/// SQLite from an index that it would have to sort.
pub(super) fn sql(filter: &JobFilter) -> String {
    let open = !filter.states.is_empty() && filter.states.iter().all(|state| !state.is_over());
    let mut sql = String::from("SELECT * FROM job");
    sql.push_str(match (&filter.worker, open) {
        (Some(_), _) => " INDEXED BY job_of_worker WHERE worker = ?3",
        (None, true) => " INDEXED BY job_place WHERE ended_at IS NULL",
        (None, false) => " WHERE 1",
    });
    for (wanted, condition) in [
        (!filter.states.is_empty(), " AND +state IN (SELECT value FROM json_each(?1))"),
        (filter.kind.is_some(), " AND kind = ?2"),
    ] {
        if wanted {
            sql.push_str(condition);
        }
    }
    sql.push_str(" ORDER BY number DESC LIMIT ?4");
    sql
}

pub(super) async fn position(store: &SqliteStore, id: JobId) -> Result<Option<u32>> {
    let found: Option<Option<u32>> = query_scalar(POSITION)
        .bind(id.0)
        .fetch_optional(&store.connections.readers)
        .await
        .map_err(failed("count those before the job"))?;
    found.ok_or_else(|| missing(id))
}

pub(super) async fn counts(store: &SqliteStore) -> Result<Vec<(JobState, u64)>> {
    let rows = query(COUNTS).fetch_all(&store.connections.readers).await.map_err(failed("count the jobs"))?;
    let counts = rows.iter().map(|row| Ok((row::word(row, "state", JobState::parse)?, row::get(row, "jobs")?)));
    counts.filter(|count| !matches!(count, Ok((_, 0)))).collect()
}

pub(super) async fn running(store: &SqliteStore) -> Result<Vec<JobRecord>> {
    let rows = query(RUNNING).fetch_all(&store.connections.readers).await;
    rows.map_err(failed("read the jobs at work"))?.iter().map(record).collect()
}

pub(super) fn record(row: &SqliteRow) -> Result<JobRecord> {
    let owner = match row::get::<Option<String>>(row, "owner_host")? {
        Some(host) => Some(Owner { host, pid: row::get(row, "owner_pid")?, start: row::get(row, "owner_start")? }),
        None => None,
    };
    let json = |column| row::optional_word(row, column, |text| serde_json::from_str(text).ok());
    Ok(JobRecord {
        id: JobId(row::get(row, "number")?),
        kind: row::word(row, "kind", JobKind::parse)?,
        state: row::word(row, "state", JobState::parse)?,
        order: row::optional_word(row, "brief", |text| serde_json::from_str(text).ok())?,
        choice: row::optional_word(row, "choice", |text| serde_json::from_str(text).ok())?,
        worker: row::get(row, "worker")?,
        epoch: row::get(row, "epoch")?,
        deaths: row::get(row, "deaths")?,
        owner,
        dispatch: row::optional_word(row, "dispatch", |text| text.parse().ok())?,
        progress: structured(row, "progress")?,
        result: json("result")?,
        cancel_asked_at: row::get(row, "cancel_asked_at")?,
        created_at: row::get(row, "created_at")?,
        started_at: row::get(row, "started_at")?,
        ended_at: row::get(row, "ended_at")?,
        changed_at: row::get(row, "changed_at")?,
    })
}

pub(super) fn missing(id: JobId) -> StoreError {
    StoreError::new(ErrorKind::NotFound, format!("there is no job {id}"))
}
