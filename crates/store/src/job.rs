//! Jobs and workers, as values.

use crate::Owner;
use serde_json::Value;
use shuntyard_core::{
    DispatchId, ServerId,
    values::{Backend, ModelPolicy},
    work::job::{Choice, JobId, JobKind, JobOrder, JobState},
};

/// A job before it has a number.
#[derive(Debug, Clone, PartialEq)]
pub struct NewJob {
    pub kind: JobKind,
    pub order: JobOrder,
    /// The model that it was given to at the start; a batch has one for each target in its order instead.
    pub choice: Option<Choice>,
    /// The worker whose line it is in.
    pub worker: Option<String>,
    pub at: i64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct JobRecord {
    pub id: JobId,
    pub kind: JobKind,
    pub state: JobState,
    /// Nothing after its texts were forgotten.
    pub order: Option<JobOrder>,
    pub choice: Option<Choice>,
    pub worker: Option<String>,
    /// Rises with every claim; who holds an older one can write nothing.
    pub epoch: i64,
    /// How often its executor died: a job that kills its executor again and again is not restarted for ever.
    pub deaths: u32,
    /// The process that executes it; `None` while it is not running.
    pub owner: Option<Owner>,
    /// The last dispatch that was at work for it, to be cleaned up when its owner dies.
    pub dispatch: Option<DispatchId>,
    /// Of a workflow: the steps that are over. Of all: the latest progress. Null at first, and after its texts were
    /// forgotten.
    pub progress: Value,
    /// What came of it, once it is over; nothing after its texts were forgotten.
    pub result: Option<Value>,
    pub cancel_asked_at: Option<i64>,
    pub created_at: i64,
    /// When it was claimed for the first time.
    pub started_at: Option<i64>,
    pub ended_at: Option<i64>,
    pub changed_at: i64,
}

/// What is noted about a job while it is at work. What is `None` stays as it is.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct JobNote {
    pub dispatch: Option<DispatchId>,
    pub choice: Option<Choice>,
    pub progress: Option<Value>,
}

/// How a claim of a job ends.
#[derive(Debug, Clone, PartialEq)]
pub enum JobEnd {
    /// Over: done, failed or cancelled. A state that is not over is a conflict.
    Over { state: JobState, result: Value },
    /// A workflow stops to be looked at.
    Paused { progress: Value },
    /// Its executor is gone, and that is counted. It goes back to its old place, before all that have not
    /// begun, to be claimed again.
    Lost { why: String },
    /// Its executor had to end it. It is cancelled with the result when that was asked for, and otherwise
    /// goes back to its old place too.
    CutOff { why: String, result: Value },
}

/// What came of a wish to cancel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CancelAsked {
    /// It had not begun, and is cancelled.
    Cancelled,
    /// Its executor has to end it and report that.
    Asked,
    /// It was over before.
    Over(JobState),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct JobFilter {
    /// Any state, when it is empty.
    pub states: Vec<JobState>,
    pub kind: Option<JobKind>,
    pub worker: Option<String>,
    /// At most so many, the newest first.
    pub limit: u32,
}

#[derive(Debug, Clone, PartialEq)]
pub struct WorkerRecord {
    /// Such as `coder`, or `coder-2`.
    pub name: String,
    pub profile: String,
    pub directory: String,
    pub backend: Backend,
    /// What its model goes back to: a tag, a tier or `provider/model`.
    pub reference: String,
    /// `provider/model[@variant]`.
    pub model: String,
    pub policy: ModelPolicy,
    pub reason: String,
    pub fingerprint: String,
    /// Its conversation, once there is one.
    pub session: Option<String>,
    /// The server that has the session, and the process of OpenCode that it was.
    pub server: Option<ServerId>,
    pub process: Option<Owner>,
    pub stopped_at: Option<i64>,
    pub created_at: i64,
    pub used_at: i64,
    /// Rises with every change; a change that names an older one is refused.
    pub version: i64,
}
