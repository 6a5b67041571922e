//! The contract about contests: what each came to is kept once, and read before a choice.

use crate::Result;
use async_trait::async_trait;
use serde_json::Value;
use shuntyard_core::work::task::TaskId;

/// What a contest came to.
#[derive(Debug, Clone, PartialEq)]
pub struct ContestRecord {
    /// The same contest, decided again on the same work, has the same id.
    pub id: String,
    pub at: i64,
    /// `None` for a prompt.
    pub task: Option<TaskId>,
    /// Empty when it was held in none.
    pub repository: String,
    pub task_type: Option<String>,
    /// Every model with what it came to.
    pub entries: Value,
    /// `None` when no entry could win.
    pub winner: Option<String>,
    /// How clear it was, in millionths.
    pub margin: u32,
    pub reason: String,
}

/// Times are microseconds since the Unix epoch, given by the caller.
#[async_trait]
pub trait Contests {
    /// Keeps what a contest came to, with an event. The same id again changes nothing: the first verdict stands.
    /// Returns whether it is new.
    async fn record_contest(&self, contest: &ContestRecord) -> Result<bool>;

    async fn contest(&self, id: &str) -> Result<Option<ContestRecord>>;

    /// The newest of a task.
    async fn contest_of_task(&self, task: &TaskId) -> Result<Option<ContestRecord>>;

    /// Those with a winner for one kind of task: of one repository first, then of all others, the newest first in both.
    async fn contests_of_type(&self, task_type: &str, repository: &str, limit: u32) -> Result<Vec<ContestRecord>>;
}
