//! How jobs come into their lines: at the end, when they are new or continued.

use super::{
    SqliteStore,
    fault::failed,
    job::missing,
    job_told::{Told, kind_of, told},
    row,
    script::Script,
    task::json,
};
use crate::{ErrorKind, NewJob, Result, StoreError};
use shuntyard_core::work::job::{JobId, JobState};
use sqlx::query;

/// After all that are not over, so that a job that goes back to an old place is never overtaken.
macro_rules! end_of_line {
    () => {
        "(SELECT coalesce(max(place), 0) + 1 FROM job WHERE ended_at IS NULL)"
    };
}

pub(super) const ADD: &str = concat!(
    "INSERT INTO job (kind, state, worker, place, brief, choice, created_at, changed_at)
     SELECT ?1, 'queued', ?2, ",
    end_of_line!(),
    ", ?3, ?4, ?5, ?5
     WHERE ?2 IS NULL OR EXISTS (SELECT 1 FROM worker WHERE name = ?2 AND stopped_at IS NULL)
     RETURNING ",
    told!()
);

/// The worker is idle for ever when it is stopped or not there.
const FIND: &str = concat!(
    "SELECT ",
    told!(),
    ", worker IS NOT NULL AND NOT EXISTS (SELECT 1 FROM worker WHERE name = job.worker AND stopped_at IS NULL)
         AS abandoned
     FROM job WHERE number = ?1"
);

pub(super) const REJOIN: &str = concat!(
    "UPDATE job SET state = 'queued', place = ",
    end_of_line!(),
    ", changed_at = ?2 WHERE number = ?1 RETURNING ",
    told!()
);

pub(super) async fn add(store: &SqliteStore, job: &NewJob) -> Result<JobId> {
    let mut transaction = store.write().await?;
    let added = query(ADD)
        .bind(job.kind.as_str())
        .bind(&job.worker)
        .bind(json(&job.order)?)
        .bind(job.choice.as_ref().map(json).transpose()?)
        .bind(job.at)
        .fetch_optional(&mut *transaction)
        .await
        .map_err(failed("add the job"))?;
    let Some(added) = added else {
        let worker = job.worker.as_deref().unwrap_or_default();
        return Err(idle(worker));
    };
    let told = Told::read(&added)?;
    let mut script = Script::default();
    told.tell(&mut script, job.at, kind_of(told.state), None);
    script.run(&mut transaction).await.map_err(failed("add the job"))?;
    transaction.commit().await.map_err(failed("add the job"))?;
    Ok(told.id)
}

pub(super) async fn rejoin(store: &SqliteStore, id: JobId, now: i64) -> Result<()> {
    let mut transaction = store.write().await?;
    let found = query(FIND).bind(id.0).fetch_optional(&mut *transaction).await;
    let found = found.map_err(failed("continue the job"))?.ok_or_else(|| missing(id))?;
    let before = Told::read(&found)?;
    if before.state != JobState::Paused {
        let what = format!("failed to continue job {id}: it is {}, not paused", before.state.as_str());
        return Err(StoreError::new(ErrorKind::Conflict, what));
    }
    if row::get(&found, "abandoned")? {
        return Err(idle(before.worker.as_deref().unwrap_or_default()));
    }
    let joined = query(REJOIN).bind(id.0).bind(now).fetch_one(&mut *transaction).await;
    let joined = Told::read(&joined.map_err(failed("continue the job"))?)?;
    let mut script = Script::default();
    joined.tell(&mut script, now, kind_of(joined.state), None);
    script.run(&mut transaction).await.map_err(failed("continue the job"))?;
    transaction.commit().await.map_err(failed("continue the job"))
}

fn idle(worker: &str) -> StoreError {
    StoreError::new(ErrorKind::Conflict, format!("worker {worker} is not there, or was stopped"))
}
