//! The contract about jobs and workers, call by call. Each call goes to the file that it is about.

use super::{SqliteStore, job, job_claim, job_end, job_line, worker};
use crate::{CancelAsked, JobEnd, JobFilter, JobNote, JobRecord, Jobs, NewJob, Owner, Result, WorkerRecord};
use async_trait::async_trait;
use shuntyard_core::work::job::{JobId, JobState};

#[async_trait]
impl Jobs for SqliteStore {
    async fn add_job(&self, job: &NewJob) -> Result<JobId> {
        job_line::add(self, job).await
    }

    async fn job(&self, id: JobId) -> Result<JobRecord> {
        job::one(self, id).await
    }

    async fn jobs(&self, filter: &JobFilter) -> Result<Vec<JobRecord>> {
        job::many(self, filter).await
    }

    async fn job_position(&self, id: JobId) -> Result<Option<u32>> {
        job::position(self, id).await
    }

    async fn job_counts(&self) -> Result<Vec<(JobState, u64)>> {
        job::counts(self).await
    }

    async fn claim_job(&self, owner: &Owner, at_once: u32, now: i64) -> Result<Option<JobRecord>> {
        job_claim::claim(self, owner, at_once, now).await
    }

    async fn note_job(&self, id: JobId, epoch: i64, note: &JobNote, now: i64) -> Result<bool> {
        job_claim::note(self, id, epoch, note, now).await
    }

    async fn end_job(&self, id: JobId, epoch: i64, end: &JobEnd, now: i64) -> Result<bool> {
        job_end::end(self, id, epoch, end, now).await
    }

    async fn cancel_job(&self, id: JobId, now: i64) -> Result<CancelAsked> {
        job_end::cancel(self, id, now).await
    }

    async fn continue_job(&self, id: JobId, now: i64) -> Result<()> {
        job_line::rejoin(self, id, now).await
    }

    async fn running_jobs(&self) -> Result<Vec<JobRecord>> {
        job::running(self).await
    }

    async fn forget_jobs(&self, before: i64, limit: u32) -> Result<Vec<JobId>> {
        job_end::forget(self, before, limit).await
    }

    async fn add_worker(&self, worker: &WorkerRecord) -> Result<()> {
        worker::add(self, worker).await
    }

    async fn worker(&self, name: &str) -> Result<WorkerRecord> {
        worker::one(self, name).await
    }

    async fn workers(&self) -> Result<Vec<WorkerRecord>> {
        worker::all(self).await
    }

    async fn change_worker(&self, worker: &WorkerRecord, now: i64) -> Result<()> {
        worker::change(self, worker, now).await
    }

    async fn prune_workers(&self, before: i64) -> Result<u64> {
        worker::prune(self, before).await
    }
}
