//! The contract about jobs and workers.
//!
//! Every call is one transaction. A change that others may wait for has its event in it: `job.<state>`, `job.requeued`
//! (it has to be done again), `job.progress`, `job.cancelling`, `worker.started`, `worker.changed` and
//! `worker.stopped`; the subject is the id or the name. Events never contain prompts or answers. The holder of an
//! older claim can write nothing.
//!
//! A `job.progress` only announces that there is something new, and all of a job are removed when it ends: its
//! progress has no use then, and there may be many events.
//!
//! Jobs of one worker form a line, and those without a worker in another. A job keeps the place that it joined the
//! line at, and the oldest place comes first. A job that the store itself cancels has `{"why": …}` as its result.

use crate::{CancelAsked, JobEnd, JobFilter, JobNote, JobRecord, NewJob, Owner, Result, WorkerRecord};
use async_trait::async_trait;
use shuntyard_core::work::job::{JobId, JobState};

/// Times are microseconds since the Unix epoch, given by the caller. A job or worker that is not there is `NotFound`,
/// unless something else is stated.
#[async_trait]
pub trait Jobs {
    /// Adds a job at the end of its line. A worker that is not there, or was stopped, is a conflict.
    async fn add_job(&self, job: &NewJob) -> Result<JobId>;

    async fn job(&self, id: JobId) -> Result<JobRecord>;

    /// The newest first.
    async fn jobs(&self, filter: &JobFilter) -> Result<Vec<JobRecord>>;

    /// How many are before it in its line, those at work included; nothing when it is not queued.
    async fn job_position(&self, id: JobId) -> Result<Option<u32>>;

    /// How many are queued, running and paused, in this order. States that no job is in are left out.
    async fn job_counts(&self) -> Result<Vec<(JobState, u64)>>;

    /// Takes the job with the oldest place that may start: fewer than `at_once` are at work, of all that there are, and
    /// none of the same worker, which is not stopped. Its epoch rises, and it is the owner's.
    async fn claim_job(&self, owner: &Owner, at_once: u32, now: i64) -> Result<Option<JobRecord>>;

    /// Notes something about a job at work, and announces that there is something new, but not what. False when the
    /// epoch is over or the job not there: then the caller must stop, and may write nothing more.
    async fn note_job(&self, id: JobId, epoch: i64, note: &JobNote, now: i64) -> Result<bool>;

    /// Ends a claim. False when the epoch is over or the job not there, and then nothing is written. A job that was to
    /// be cancelled ends as cancelled, or as `end` has it when that is `Over`; it is never queued again or paused. One
    /// whose worker was stopped is not queued again either, but cancelled. A `Lost` counts as a death in every case.
    async fn end_job(&self, id: JobId, epoch: i64, end: &JobEnd, now: i64) -> Result<bool>;

    /// Asks for a job to be ended. A queued or paused one is cancelled at once. Asking again changes nothing.
    async fn cancel_job(&self, id: JobId, now: i64) -> Result<CancelAsked>;

    /// Puts a paused job at the end of its line. One that is not paused, or whose worker was stopped, is a conflict.
    async fn continue_job(&self, id: JobId, now: i64) -> Result<()>;

    /// Those that are at work, the oldest first.
    async fn running_jobs(&self) -> Result<Vec<JobRecord>>;

    /// Takes the texts out of jobs that ended before a moment: their orders, progress and results. Returns the ids of
    /// those that had them still, at most `limit`, those that ended first, in the order of their numbers. It is no
    /// event.
    async fn forget_jobs(&self, before: i64, limit: u32) -> Result<Vec<JobId>>;

    /// Adds a worker as it is given, its version included. A name that is taken by a worker that was not stopped is a
    /// conflict; one that was stopped is replaced.
    async fn add_worker(&self, worker: &WorkerRecord) -> Result<()>;

    async fn worker(&self, name: &str) -> Result<WorkerRecord>;

    /// In order of their names, the stopped ones included.
    async fn workers(&self) -> Result<Vec<WorkerRecord>>;

    /// Replaces a worker whose version is still that of `worker`, which rises by one; otherwise a conflict. The same
    /// name with another `created_at` is another worker, and one that was stopped stays so: both are conflicts too.
    /// With `stopped_at` set for the first time its queued jobs are cancelled, with the reason; the one at work is not
    /// touched.
    async fn change_worker(&self, worker: &WorkerRecord, now: i64) -> Result<()>;

    /// Forgets workers that were stopped before a moment, except those that a job is at work for. Returns how many.
    /// Their jobs stay. It is no event.
    async fn prune_workers(&self, before: i64) -> Result<u64>;
}
