//! How a claim of a job ends, how a job is cancelled, and what is forgotten of those that are over.
//!
//! A job that is over stays as it is, and no job enters the line of a stopped worker.

use super::{
    SqliteStore,
    fault::failed,
    job::missing,
    job_told::{Told, kind_of, told},
    row,
    script::{Script, Write},
    task::json,
};
use crate::{CancelAsked, ErrorKind, JobEnd, Result, StoreError};
use serde_json::{Value, json};
use shuntyard_core::work::job::{JobId, JobState};
use sqlx::{query_scalar, sqlite::SqliteRow};

pub(super) const HELD: &str = concat!(
    "SELECT ",
    told!(),
    ", cancel_asked_at,
     worker IS NOT NULL AND NOT EXISTS (SELECT 1 FROM worker WHERE name = job.worker AND stopped_at IS NULL)
         AS abandoned
     FROM job WHERE number = ? AND epoch = ? AND state = 'running'"
);

pub(super) const FIND: &str = concat!("SELECT ", told!(), ", cancel_asked_at FROM job WHERE number = ?");

/// Its place stays: only who is continued gets another.
pub(super) const LEAVE: &str = "
    UPDATE job SET state = ?, result = ?, progress = coalesce(?, progress), deaths = deaths + ?, ended_at = ?,
                   changed_at = ?, owner_host = NULL, owner_pid = NULL, owner_start = NULL
    WHERE number = ?";

/// Who comes to its end has no more progress.
pub(super) const SETTLE: &str = "DELETE FROM event WHERE kind = 'job.progress' AND subject = ?";

const ASK: &str = "UPDATE job SET cancel_asked_at = ?, changed_at = ? WHERE number = ?";

const ASKED: &str = "UPDATE job SET cancel_asked_at = ? WHERE number = ?";

pub(super) const FORGET: &str = "
    UPDATE job SET brief = NULL, result = NULL, progress = 'null'
    WHERE number IN (
        SELECT number FROM job WHERE ended_at < ?1 AND brief IS NOT NULL ORDER BY ended_at, number LIMIT ?2)
    RETURNING number";

const ASKED_TO_END: &str = "it was asked to end";

/// What becomes of a job.
struct Next {
    state: JobState,
    result: Option<Value>,
    progress: Option<Value>,
    deaths: u32,
    kind: &'static str,
    why: Option<String>,
}

impl Next {
    fn to(state: JobState) -> Self {
        Self { state, result: None, progress: None, deaths: 0, kind: kind_of(state), why: None }
    }

    fn cancelled(why: &str) -> Self {
        Self { result: Some(json!({ "why": why })), why: Some(why.to_owned()), ..Self::to(JobState::Cancelled) }
    }

    fn after(held: &SqliteRow, worker: Option<&str>, end: &JobEnd) -> Result<Self> {
        let asked = row::get::<Option<i64>>(held, "cancel_asked_at")?.is_some();
        let abandoned: bool = row::get(held, "abandoned")?;
        let again = |why: &String| {
            if asked {
                Self::cancelled(ASKED_TO_END)
            } else if abandoned {
                Self::cancelled(&stopped(worker.unwrap_or_default()))
            } else {
                Self { kind: "job.requeued", why: Some(why.clone()), ..Self::to(JobState::Queued) }
            }
        };
        Ok(match end {
            JobEnd::Over { state, result } => Self { result: Some(result.clone()), ..Self::to(*state) },
            JobEnd::Paused { progress } => {
                let next = if asked { Self::cancelled(ASKED_TO_END) } else { Self::to(JobState::Paused) };
                Self { progress: Some(progress.clone()), ..next }
            }
            JobEnd::CutOff { result, .. } if asked => {
                Self { result: Some(result.clone()), ..Self::cancelled(ASKED_TO_END) }
            }
            JobEnd::CutOff { why, .. } => again(why),
            JobEnd::Lost { why } => Self { deaths: 1, ..again(why) },
        })
    }

    /// Writes it and its event, as a part of the caller's script.
    fn write(self, script: &mut Script, before: Told, now: i64) -> Result<()> {
        script
            .add(LEAVE)
            .bind(self.state.as_str())
            .bind(self.result.as_ref().map(json).transpose()?)
            .bind(self.progress.as_ref().map(json).transpose()?)
            .bind(self.deaths)
            .bind(self.state.is_over().then_some(now))
            .bind(now)
            .bind(before.id.0);
        if self.state.is_over() {
            script.add(SETTLE).bind(before.id.to_string());
        }
        Told { state: self.state, ..before }.tell(script, now, self.kind, self.why.as_deref());
        Ok(())
    }
}

pub(super) async fn end(store: &SqliteStore, id: JobId, epoch: i64, end: &JobEnd, now: i64) -> Result<bool> {
    if let JobEnd::Over { state, .. } = end
        && !state.is_over()
    {
        let what = format!("failed to end job {id}: {} is no end", state.as_str());
        return Err(StoreError::new(ErrorKind::Conflict, what));
    }
    let mut look = Script::default();
    look.add(HELD).bind(id.0).bind(epoch);
    let (write, held) = Write::after(store, look, "end the job").await?;
    let mut script = Script::default();
    let Some(held) = held.first() else {
        write.commit(script).await?;
        return Ok(false);
    };
    let before = Told::read(held)?;
    Next::after(held, before.worker.as_deref(), end)?.write(&mut script, before, now)?;
    write.commit(script).await?;
    Ok(true)
}

pub(super) async fn cancel(store: &SqliteStore, id: JobId, now: i64) -> Result<CancelAsked> {
    let mut look = Script::default();
    look.add(FIND).bind(id.0);
    let (write, found) = Write::after(store, look, "cancel the job").await?;
    let mut script = Script::default();
    let Some(found) = found.first() else {
        write.commit(script).await?;
        return Err(missing(id));
    };
    let before = Told::read(found)?;
    let asked = match before.state {
        JobState::Queued | JobState::Paused => {
            let why = format!("it was cancelled while it was {}", before.state.as_str());
            script.add(ASKED).bind(now).bind(id.0);
            Next::cancelled(&why).write(&mut script, before, now)?;
            CancelAsked::Cancelled
        }
        JobState::Running => {
            if row::get::<Option<i64>>(found, "cancel_asked_at")?.is_none() {
                script.add(ASK).bind(now).bind(now).bind(id.0);
                before.tell(&mut script, now, "job.cancelling", None);
            }
            CancelAsked::Asked
        }
        over @ (JobState::Done | JobState::Failed | JobState::Cancelled) => CancelAsked::Over(over),
    };
    write.commit(script).await?;
    Ok(asked)
}

/// Cancels the queued jobs of a worker that stops, as a part of the caller's script.
pub(super) fn abandon(script: &mut Script, queued: &[SqliteRow], worker: &str, now: i64) -> Result<()> {
    queued.iter().try_for_each(|job| Next::cancelled(&stopped(worker)).write(script, Told::read(job)?, now))
}

pub(super) async fn forget(store: &SqliteStore, before: i64, limit: u32) -> Result<Vec<JobId>> {
    let mut transaction = store.write().await?;
    let forgotten = query_scalar(FORGET).bind(before).bind(limit).fetch_all(&mut *transaction).await;
    let mut numbers: Vec<i64> = forgotten.map_err(failed("forget jobs"))?;
    transaction.commit().await.map_err(failed("forget jobs"))?;
    numbers.sort_unstable();
    Ok(numbers.into_iter().map(JobId).collect())
}

fn stopped(worker: &str) -> String {
    format!("worker {worker} was stopped")
}
