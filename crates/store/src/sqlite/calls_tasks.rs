//! The contract about tasks, call by call. Each call goes to the file of the table that it is about.

use super::{SqliteStore, batch, dependency, effect, mark, ready, run, run_list, task, task_add, task_change};
use crate::{
    BatchRecord, Changed, EffectRecord, Event, NewTask, PhaseCounts, Ready, Result, RunNote, RunRecord, TaskChange,
    TaskFilter, TaskRecord, Tasks,
};
use async_trait::async_trait;
use shuntyard_core::work::task::{Phase, TaskId};

#[async_trait]
impl Tasks for SqliteStore {
    async fn add_tasks(&self, tasks: &[NewTask]) -> Result<Vec<TaskId>> {
        task_add::add(self, tasks).await
    }

    async fn task(&self, id: &TaskId) -> Result<TaskRecord> {
        task::one(&self.connections.readers, id).await
    }

    async fn tasks(&self, filter: &TaskFilter) -> Result<Vec<TaskRecord>> {
        task::many(self, filter).await
    }

    async fn task_counts(&self, batch: Option<&str>) -> Result<PhaseCounts> {
        task::counts(self, batch).await
    }

    async fn change_task(&self, change: &TaskChange) -> Result<Changed> {
        task_change::change(self, change).await
    }

    async fn renew_run(&self, task: &TaskId, epoch: i64, progress_at: i64, lease_until: i64) -> Result<bool> {
        run::renew(self, task, epoch, progress_at, lease_until).await
    }

    async fn note_run(&self, task: &TaskId, epoch: i64, note: &RunNote) -> Result<bool> {
        run::note(self, task, epoch, note).await
    }

    async fn runs(&self, task: &TaskId) -> Result<Vec<RunRecord>> {
        run_list::of_task(self, task).await
    }

    async fn live_runs(&self) -> Result<Vec<RunRecord>> {
        run_list::live(self).await
    }

    async fn ended_runs(&self, limit: u32) -> Result<Vec<RunRecord>> {
        run_list::ended(self, limit).await
    }

    async fn ready_tasks(&self, batch: Option<&str>, skip: u32, each: u32) -> Result<Ready> {
        ready::tasks(self, batch, skip, each).await
    }

    async fn due_tasks(&self, now: i64, limit: u32) -> Result<Vec<TaskRecord>> {
        task::due(self, now, limit).await
    }

    async fn next_due(&self) -> Result<Option<i64>> {
        task::next_due(self).await
    }

    async fn blockers(&self, id: &TaskId) -> Result<Vec<(TaskId, Option<Phase>)>> {
        dependency::blockers(self, id).await
    }

    async fn dependents(&self, id: &TaskId) -> Result<Vec<TaskId>> {
        dependency::dependents(self, id).await
    }

    async fn take_effects(&self, now: i64, lease: i64, limit: u32) -> Result<Vec<EffectRecord>> {
        effect::take(self, now, lease, limit).await
    }

    async fn finish_effect(&self, id: i64, now: i64, result: &str) -> Result<()> {
        effect::finish(self, id, now, result).await
    }

    async fn defer_effect(&self, id: i64, now: i64, problem: &str, again_at: Option<i64>) -> Result<()> {
        effect::defer(self, id, now, problem, again_at).await
    }

    async fn task_events(&self, id: &TaskId, after: i64, limit: u32) -> Result<Vec<Event>> {
        task::events(self, id, after, limit).await
    }

    async fn create_batch(&self, batch: &BatchRecord) -> Result<()> {
        batch::create(self, batch).await
    }

    async fn batches(&self) -> Result<Vec<BatchRecord>> {
        batch::all(self).await
    }

    async fn join_batch(&self, name: &str, tasks: &[TaskId], now: i64) -> Result<()> {
        batch::join(self, name, tasks, now).await
    }

    async fn pause_batch(&self, name: &str, paused: bool, now: i64) -> Result<()> {
        batch::pause(self, name, paused, now).await
    }

    async fn mark(&self, name: &str) -> Result<Option<i64>> {
        mark::one(self, name).await
    }

    async fn set_mark(&self, name: &str, at: i64) -> Result<()> {
        mark::set(self, name, at).await
    }
}
