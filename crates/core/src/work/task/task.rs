//! A task as it is stored: what was asked for, its state, and what its attempts have come to.

use super::{State, Tally, TaskId, TaskSpec};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Task {
    pub id: TaskId,
    pub batch: Option<String>,
    pub parent: Option<TaskId>,
    /// The higher the sooner.
    pub priority: i64,
    pub depends_on: Vec<TaskId>,
    pub spec: TaskSpec,
    pub state: State,
    pub tally: Tally,
    /// The number of the newest claim; 0 before the first. Only its holder may change the task.
    pub epoch: i64,
    pub created_at: i64,
    pub changed_at: i64,
}
