//! The contract about tasks: added, claimed, changed, and supervised.
//!
//! Every call is one transaction. A change of a task is refused when the caller did not see the newest one, and a run
//! whose epoch is over can write nothing.

use crate::{
    BatchRecord, Changed, EffectRecord, Event, NewTask, PhaseCounts, Ready, Result, RunNote, RunRecord, TaskChange,
    TaskFilter, TaskRecord,
};
use async_trait::async_trait;
use shuntyard_core::work::task::{Phase, TaskId};

/// Times are microseconds since the Unix epoch, given by the caller.
#[async_trait]
pub trait Tasks {
    /// Adds tasks, all or none, each with an event, and returns their ids in the same order. A dependency need not be
    /// there yet. An id that is taken, or a batch that is not there, is a conflict.
    async fn add_tasks(&self, tasks: &[NewTask]) -> Result<Vec<TaskId>>;

    async fn task(&self, id: &TaskId) -> Result<TaskRecord>;

    /// In the order in which they were added.
    async fn tasks(&self, filter: &TaskFilter) -> Result<Vec<TaskRecord>>;

    async fn task_counts(&self, batch: Option<&str>) -> Result<PhaseCounts>;

    /// Writes a change with its audit rows (`task.<state>`, with the task's id as subject), its effects, and what
    /// becomes of the run, in one transaction. The tasks that depend on it are updated there too.
    async fn change_task(&self, change: &TaskChange) -> Result<Changed>;

    /// Notes progress of the run of this epoch, and lengthens its lease. False when the epoch is over: then the
    /// caller must stop at once, and may write nothing more.
    async fn renew_run(&self, task: &TaskId, epoch: i64, progress_at: i64, lease_until: i64) -> Result<bool>;

    /// Notes something about the run of this epoch. False when the epoch is over, and then nothing is written.
    async fn note_run(&self, task: &TaskId, epoch: i64, note: &RunNote) -> Result<bool>;

    /// The runs of a task, the oldest first.
    async fn runs(&self, task: &TaskId) -> Result<Vec<RunRecord>>;

    /// Those that hold a task now, the oldest first.
    async fn live_runs(&self) -> Result<Vec<RunRecord>>;

    /// The newest runs that have ended, the newest first.
    async fn ended_runs(&self, limit: u32) -> Result<Vec<RunRecord>>;

    /// Queued tasks without open blockers and not paused: of each (repository, batch) the first `each`, after leaving
    /// out `skip` of them; of one batch only, when it is given. The work does not grow with how many are queued.
    async fn ready_tasks(&self, batch: Option<&str>, skip: u32, each: u32) -> Result<Ready>;

    /// Those whose moment has come, and those that wait although they were changed later than now; the earliest first.
    async fn due_tasks(&self, now: i64, limit: u32) -> Result<Vec<TaskRecord>>;

    /// The earliest moment that a task waits for.
    async fn next_due(&self) -> Result<Option<i64>>;

    /// What a task depends on, with the phase of each that is there.
    async fn blockers(&self, id: &TaskId) -> Result<Vec<(TaskId, Option<Phase>)>>;

    /// The tasks that depend on this one.
    async fn dependents(&self, id: &TaskId) -> Result<Vec<TaskId>>;

    /// Takes effects that no other process has taken, for `lease` microseconds; the oldest first.
    async fn take_effects(&self, now: i64, lease: i64, limit: u32) -> Result<Vec<EffectRecord>>;

    /// An effect was performed. Reported twice, the first time counts.
    async fn finish_effect(&self, id: i64, now: i64, result: &str) -> Result<()>;

    /// It could not be performed; not before `again_at` it is tried again, or never when that is `None`.
    async fn defer_effect(&self, id: i64, now: i64, problem: &str, again_at: Option<i64>) -> Result<()>;

    /// The audit of one task, the oldest first.
    async fn task_events(&self, id: &TaskId, after: i64, limit: u32) -> Result<Vec<Event>>;

    /// Creates a batch, with an event. One that is there is a conflict.
    async fn create_batch(&self, batch: &BatchRecord) -> Result<()>;

    async fn batches(&self) -> Result<Vec<BatchRecord>>;

    /// Puts queued tasks into a batch. One that is not there, or not queued, is a conflict, and none is put.
    async fn join_batch(&self, name: &str, tasks: &[TaskId], now: i64) -> Result<()>;

    /// Pauses or resumes a batch, with an event. The same again changes nothing.
    async fn pause_batch(&self, name: &str, paused: bool, now: i64) -> Result<()>;

    /// A named moment, such as when the breaker was cleared.
    async fn mark(&self, name: &str) -> Result<Option<i64>>;

    async fn set_mark(&self, name: &str, at: i64) -> Result<()>;
}
