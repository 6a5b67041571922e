//! Claims of jobs: who is at work is counted and the job is taken in one transaction, so that any number of processes
//! together stay below the limit. What holds a claim is its epoch: under an older one nothing can be written.

use super::{
    SqliteStore, event,
    fault::failed,
    job,
    job_told::{Told, kind_of},
    script::{Script, Write},
    task::json,
};
use crate::{JobNote, JobRecord, Owner, Result};
use serde_json::json;
use shuntyard_core::work::job::JobId;
use sqlx::query_scalar;

/// Those of busy workers are passed over, and so are those of workers that never get anything again.
macro_rules! next {
    () => {
        "SELECT number FROM job INDEXED BY job_queued
         WHERE state = 'queued'
             AND (SELECT count(*) FROM job AS busy WHERE busy.state = 'running') < ?
             AND (worker IS NULL
                  OR EXISTS (SELECT 1 FROM worker WHERE name = job.worker AND stopped_at IS NULL)
                     AND NOT EXISTS (SELECT 1 FROM job AS busy WHERE busy.state = 'running' AND busy.worker = job.worker))
         ORDER BY place LIMIT 1"
    };
}

pub(super) const NEXT: &str = next!();

pub(super) const CLAIM: &str = concat!(
    "UPDATE job SET state = 'running', epoch = epoch + 1, owner_host = ?, owner_pid = ?, owner_start = ?,
                    started_at = coalesce(started_at, ?), changed_at = ?
     WHERE number = (",
    next!(),
    ") RETURNING *"
);

/// What is not noted stays.
pub(super) const NOTE: &str = "
    UPDATE job SET dispatch = coalesce(?, dispatch), choice = coalesce(?, choice), progress = coalesce(?, progress),
                   changed_at = ?
    WHERE number = ? AND epoch = ? AND state = 'running'
    RETURNING number";

pub(super) async fn claim(store: &SqliteStore, owner: &Owner, at_once: u32, now: i64) -> Result<Option<JobRecord>> {
    // A search for work finds none most of the time, and then no process has to wait for the write lock.
    let next: Option<i64> = query_scalar(NEXT)
        .bind(at_once)
        .fetch_optional(&store.connections.readers)
        .await
        .map_err(failed("look for a job"))?;
    if next.is_none() {
        return Ok(None);
    }
    let mut take = Script::default();
    take.add(CLAIM).bind(&*owner.host).bind(owner.pid).bind(owner.start).bind(now).bind(now).bind(at_once);
    let (write, taken) = Write::after(store, take, "claim a job").await?;
    let mut script = Script::default();
    let Some(taken) = taken.first() else {
        write.commit(script).await?;
        return Ok(None);
    };
    let (told, record) = (Told::read(taken)?, job::record(taken)?);
    told.tell(&mut script, now, kind_of(told.state), None);
    write.commit(script).await?;
    Ok(Some(record))
}

pub(super) async fn note(store: &SqliteStore, id: JobId, epoch: i64, note: &JobNote, now: i64) -> Result<bool> {
    let mut look = Script::default();
    look.add(NOTE)
        .bind(note.dispatch.map(|dispatch| dispatch.to_string()))
        .bind(note.choice.as_ref().map(json).transpose()?)
        .bind(note.progress.as_ref().map(json).transpose()?)
        .bind(now)
        .bind(id.0)
        .bind(epoch);
    let (write, noted) = Write::after(store, look, "note something about the job").await?;
    let mut script = Script::default();
    let held = !noted.is_empty();
    if held {
        // There may be many, and the progress may contain answers: a reader gets it from the job.
        event::tell(&mut script, now, "job.progress", &id.to_string(), &json!({}));
    }
    write.commit(script).await?;
    Ok(held)
}
