//! Tasks, their runs and their batches, as values.
//!
//! A task changes only by [`TaskChange`]: the new task, its audit row, its run and what is to be done outside are
//! written in one transaction, and only when no other process was faster.

use crate::{Owner, Reserve};
use serde_json::Value;
use shuntyard_core::{
    DispatchId, Nano,
    experience::FailureMode,
    word_enum,
    work::task::{Candidate, Change, Effect, Phase, Slot, Task, TaskId},
};

/// A task as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct TaskRecord {
    pub task: Task,
    /// In which order they were added.
    pub number: i64,
    /// Rises with every change; a change that names an older one is refused.
    pub version: i64,
    /// Those it depends on that do not release it yet, missing ones included.
    pub open_blockers: u32,
    /// Whether its batch is paused.
    pub paused: bool,
    pub receipt: Option<Value>,
}

/// A task before it has a place in the order. Its state is `Queued`.
#[derive(Debug, Clone, PartialEq)]
pub struct NewTask {
    /// `None`: the next free number of the form `t001`.
    pub id: Option<TaskId>,
    /// Everything else of it; the id in there counts only when one is given above.
    pub task: Task,
}

/// One claim of a task, and what came of it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunRecord {
    pub task: TaskId,
    pub epoch: i64,
    /// What its money is booked under, once it was begun.
    pub dispatch: Option<DispatchId>,
    pub repository: String,
    pub batch: Option<String>,
    pub parent: Option<TaskId>,
    /// The model that was chosen at the claim, and the one that answered.
    pub model: Option<String>,
    pub answered: Option<String>,
    pub tier: Option<String>,
    /// The machine that the claim was made on; only there can it be continued.
    pub host: String,
    /// Its worker, once `started_at` is set; before, the process that is to start it.
    pub worker: Option<Owner>,
    pub claimed_at: i64,
    pub started_at: Option<i64>,
    /// When its agent last showed a sign of life.
    pub progress_at: i64,
    /// From then on any process may reclaim the task.
    pub lease_until: i64,
    pub ended_at: Option<i64>,
    pub worktree: Option<String>,
    pub branch: Option<String>,
    /// The commit that its work began from.
    pub base: Option<String>,
    /// A word for how it ended, such as `approved`, `refused` or `lost`.
    pub outcome: Option<String>,
    pub failure_mode: Option<FailureMode>,
    pub detail: Option<String>,
    pub cost: Nano,
    pub cost_known: bool,
}

/// What a claim takes, all of it or nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct NewRun {
    pub dispatch: Option<DispatchId>,
    pub model: Option<String>,
    pub tier: Option<String>,
    pub host: String,
    /// The process that owns it until its worker reports: the one that makes the claim.
    pub worker: Option<Owner>,
    pub at: i64,
    pub lease_until: i64,
    pub slots: Vec<Slot>,
    /// Money that is set aside under `dispatch`, ordinal 1, until that attempt begins.
    pub reserve: Option<Reserve>,
}

/// What is noted about a run while it goes on, or when it ends; `None` leaves it as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RunNote {
    pub worker: Option<Owner>,
    pub started_at: Option<i64>,
    pub dispatch: Option<DispatchId>,
    pub worktree: Option<String>,
    pub branch: Option<String>,
    pub base: Option<String>,
    pub answered: Option<String>,
    pub outcome: Option<String>,
    pub failure_mode: Option<FailureMode>,
    pub detail: Option<String>,
    /// The highest counts.
    pub cost: Option<(Nano, bool)>,
    pub lease_until: Option<i64>,
}

/// What becomes of the run of a task that changes.
#[derive(Debug, Clone, PartialEq)]
pub enum RunChange {
    /// There is none, or only what is noted changes. Of the current epoch.
    Note(RunNote),
    /// The first of this epoch: slots and money are taken.
    Begin(Box<NewRun>),
    /// It is over; its slots and its unused reservation are free.
    End(RunNote),
    /// It is over, and the next epoch's takes its slots over, with worktree, branch and base.
    Follow { ended: RunNote, lease_until: i64 },
}

#[derive(Debug, Clone, PartialEq)]
pub struct TaskChange {
    /// The task after the change.
    pub task: Task,
    /// The version that was read. Another one in the store is a conflict, and nothing is written.
    pub version: i64,
    pub at: i64,
    pub change: Change,
    pub effects: Vec<Effect>,
    pub run: RunChange,
    pub receipt: Option<Value>,
}

/// What became of a change.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a change that was not made must not be acted on"]
pub enum Changed {
    Done(Box<TaskRecord>),
    /// Another process was faster. What is there now has to be read again.
    Stale,
    /// A claim for which there is no slot.
    NoSlot(Slot),
    /// A claim whose money would pass the ceiling at this index.
    NoMoney {
        ceiling: usize,
        settled: i64,
        reserved: i64,
    },
}

/// Something to be done outside, once.
#[derive(Debug, Clone, PartialEq)]
pub struct EffectRecord {
    pub id: i64,
    /// Whose it is; `None` for one of the whole store, such as the notice about a limit.
    pub task: Option<TaskId>,
    pub epoch: i64,
    pub at: i64,
    pub effect: Effect,
    pub tries: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BatchRecord {
    pub name: String,
    /// How many of its tasks may be at work at once; 0: only the other limits count.
    pub concurrency: u32,
    pub paused: bool,
    pub created_at: i64,
}

/// How many tasks are in each phase.
pub type PhaseCounts = Vec<(Phase, u64)>;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TaskFilter {
    pub phase: Option<Phase>,
    pub batch: Option<String>,
    pub repository: Option<String>,
    /// Only those added after this one: the way to read on.
    pub after: i64,
    pub limit: u32,
}

/// Tasks that could start: the first few of every (repository, batch).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ready {
    pub candidates: Vec<Candidate>,
    /// Whether some line has more than was read of it.
    pub more: More,
}

word_enum! {
    pub enum More {
        Yes = "yes",
        No = "no",
    }
}
