//! The contract about jobs and workers.
//!
//! Every call is one transaction with its event (`job.<state>`, `job.progress`, `job.cancelling`, `worker.started`,
//! `worker.changed`, `worker.stopped`; the subject is the id or the name). Who holds an older claim can write nothing.

use crate::{CancelAsked, JobEnd, JobFilter, JobNote, JobRecord, NewJob, Owner, Result, WorkerRecord};
use async_trait::async_trait;
use switchyard_core::job::JobId;

#[async_trait]
pub trait Jobs {
    /// Adds a job at the end of its line. A worker that is not there, or was stopped, is a conflict.
    async fn add_job(&self, job: &NewJob) -> Result<JobId>;

    async fn job(&self, id: JobId) -> Result<JobRecord>;

    /// The newest first.
    async fn jobs(&self, filter: &JobFilter) -> Result<Vec<JobRecord>>;

    /// How many stand before it in its line, the one at work included; nothing when it is not queued. Jobs without a
    /// worker are one line.
    async fn job_position(&self, id: JobId) -> Result<Option<u32>>;

    /// Takes the oldest job that may start: fewer than `at_once` are at work, and none of the same worker. Its epoch
    /// rises, and it is the owner's.
    async fn claim_job(&self, owner: &Owner, at_once: u32, now: i64) -> Result<Option<JobRecord>>;

    /// False when the epoch is over: then whoever asks must stop, and may write nothing more.
    async fn note_job(&self, id: JobId, epoch: i64, note: &JobNote, now: i64) -> Result<bool>;

    /// Ends a claim. False when the epoch is over, and then nothing is written. A job that was to be cancelled ends as
    /// cancelled, or as it is told when that is `Over`; it is never queued again or paused.
    async fn end_job(&self, id: JobId, epoch: i64, end: &JobEnd, now: i64) -> Result<bool>;

    /// Asks for a job to be ended. A queued or paused one is cancelled at once.
    async fn cancel_job(&self, id: JobId, now: i64) -> Result<CancelAsked>;

    /// Puts a paused job at the end of its line. One that is not paused is a conflict.
    async fn continue_job(&self, id: JobId, now: i64) -> Result<()>;

    /// Those that are at work, the oldest first.
    async fn running_jobs(&self) -> Result<Vec<JobRecord>>;

    /// Takes the texts out of jobs that ended before a moment: their orders and results. Returns their ids, at most
    /// `limit`.
    async fn forget_jobs(&self, before: i64, limit: u32) -> Result<Vec<JobId>>;

    /// A name that is taken by a worker that was not stopped is a conflict; one that was stopped is replaced.
    async fn add_worker(&self, worker: &WorkerRecord) -> Result<()>;

    async fn worker(&self, name: &str) -> Result<WorkerRecord>;

    /// In order of their names, the stopped ones included.
    async fn workers(&self) -> Result<Vec<WorkerRecord>>;

    /// Replaces a worker whose version is still that of `worker`, which rises by one; otherwise a conflict. With
    /// `stopped_at` set for the first time its queued jobs are cancelled, with the reason.
    async fn change_worker(&self, worker: &WorkerRecord, now: i64) -> Result<()>;

    /// Forgets workers that were stopped before a moment.
    async fn prune_workers(&self, before: i64) -> Result<u64>;
}
