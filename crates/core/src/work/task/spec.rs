//! What a task asks for. It is written once, when the task is added; what happens to it later is its state.

use super::{Contest, TaskId};
use crate::values::Deliver;
use crate::values::Strategy;
use crate::{
    Nano,
    values::{Capability, Urgency},
};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskSpec {
    /// What is to be done, in the words of the requester.
    pub description: String,
    /// The top of the repository's main working tree, or a plain directory for a command in place.
    pub repository: String,
    /// The branch that the work starts from and, when merged, goes back to; or a commit.
    pub base: String,
    pub agent: Agent,
    #[serde(default)]
    pub place: Place,
    /// A model, tag or tier as people write it. It wins over `tier` and `task_type`.
    #[serde(default)]
    pub model: Option<String>,
    #[serde(default)]
    pub tier: Option<String>,
    #[serde(default)]
    pub task_type: Option<String>,
    #[serde(default)]
    pub needs: Vec<Capability>,
    /// Commands that have to end with 0 in the worktree, in this order.
    #[serde(default)]
    pub verify: Vec<String>,
    /// Where it may change something; nowhere else. Empty: everywhere in the repository.
    #[serde(default)]
    pub allow_paths: Vec<String>,
    #[serde(default)]
    pub max_cost: Option<Nano>,
    /// What it may ask of the budget.
    #[serde(default)]
    pub urgency: Urgency,
    /// From this moment on, in microseconds since the epoch, it is not started any more, and work on it is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline: Option<i64>,
    /// How long a person would expect it to take, in seconds.
    #[serde(default)]
    pub estimate_seconds: Option<u64>,
    /// Its own limit to the tries that count.
    #[serde(default)]
    pub attempts: Option<u32>,
    #[serde(default)]
    pub labels: Vec<String>,
    #[serde(default)]
    pub deliver: Deliver,
    #[serde(default)]
    pub gate: Gate,
    #[serde(default)]
    pub verification: Verification,
    /// The task that this one diagnoses. Such a task is never diagnosed itself.
    #[serde(default)]
    pub diagnoses: Option<TaskId>,
    /// What it is called in the repository's TODO.md, when it came from there.
    #[serde(default)]
    pub todo: Option<TaskId>,
    /// How its attempts follow each other, when that was set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// Several models do the work, each in an entry of its own. It names no model besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contest: Option<Contest>,
    /// The contest that this task is an entry of. Its cost is charged to that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry_of: Option<TaskId>,
    /// Whether its line of TODO.md has an issue on GitHub that is kept up with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub with_issue: bool,
}

/// Who does the work.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Agent {
    /// A model, in OpenCode.
    Opencode {
        /// One of the user's own OpenCode agents.
        #[serde(default)]
        agent: Option<String>,
    },
    /// A program, by a shell's command line.
    Command { command: String },
}

/// Where the work is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Place {
    /// In a working tree of its own, on a branch of its own.
    #[default]
    Worktree,
    /// In the directory itself. Only for commands: nothing is committed, and success is their exit code.
    Directory,
}

/// Whether the evidence has to convince.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    #[default]
    Closed,
    /// The request states that work without a change counts.
    Open,
}

/// How the work is verified, besides by its verify commands.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Verification {
    /// Prepares a fresh checkout, before the work and before each verification. The repository's own by default.
    pub setup: Option<String>,
    /// A verify command has to fail before the work, so that its success proves something.
    pub expect_red_first: bool,
    /// The work may delete a large share of the repository's files.
    pub allow_mass_deletion: bool,
    /// The work of a model may contain commits of other branches, such as a merge of one. A command declares what
    /// it merges.
    pub allow_other_branches: bool,
}

impl TaskSpec {
    /// Whether its deadline has passed.
    #[must_use]
    pub fn is_over(&self, now: i64) -> bool {
        self.deadline.is_some_and(|deadline| deadline <= now)
    }

    /// Whether it may change TODO.md: only a path that names the file allows it. A broad one is about the work, and the
    /// file is the supervisor's.
    #[must_use]
    pub fn may_change_todo(&self) -> bool {
        self.allow_paths.iter().any(|path| path.trim_start_matches("./").trim_start_matches('/') == "TODO.md")
    }

    /// The branch that the work of a task is on, unless another branch has that name.
    #[must_use]
    pub fn branch(id: &TaskId) -> String {
        format!("shuntyard/{id}")
    }

    #[must_use]
    pub fn strategy(&self) -> Strategy {
        self.strategy.unwrap_or_default()
    }
}

impl Deliver {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Branch => "branch",
            Self::Merge => "merge",
            Self::Pr => "pr",
        }
    }
}
