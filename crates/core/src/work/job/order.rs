//! What is to be done by a job, and on which model it is to be done.

use crate::values::WorkflowStep;
use crate::{
    Nano,
    routing::Rule,
    values::{Mode, ModelPolicy, model::ModelRef},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::path::PathBuf;

word_enum! {
    pub enum JobKind {
        /// A message to a worker, which keeps its conversation.
        Worker = "worker",
        /// Several steps, each with what came before.
        Workflow = "workflow",
        /// One prompt for one model.
        Dispatch = "dispatch",
        /// One prompt for several models.
        Batch = "batch",
    }
}

word_enum! {
    pub enum JobState {
        Queued = "queued",
        Running = "running",
        /// A workflow that waits to be continued.
        Paused = "paused",
        Done = "done",
        Failed = "failed",
        Cancelled = "cancelled",
    }
}

impl JobState {
    /// Whether nothing more will happen to it.
    #[must_use]
    pub fn is_over(self) -> bool {
        match self {
            Self::Queued | Self::Running | Self::Paused => false,
            Self::Done | Self::Failed | Self::Cancelled => true,
        }
    }
}

/// Where a workflow stops to be looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pause {
    #[default]
    Never,
    /// After each step but the last.
    EachStep,
}

/// Everything that is needed to execute a job, also by another process after a crash.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobOrder {
    pub prompt: String,
    pub mode: Mode,
    pub directory: PathBuf,
    /// What the caller wrote for a model: a tag, a tier or `provider/model`. Nothing leaves it to the profile or the
    /// router.
    #[serde(default)]
    pub reference: Option<String>,
    #[serde(default)]
    pub policy: ModelPolicy,
    #[serde(default)]
    pub task_type: Option<String>,
    #[serde(default)]
    pub system: Option<String>,
    #[serde(default)]
    pub schema: Option<Value>,
    /// Copies of what was attached, kept for this job alone.
    #[serde(default)]
    pub attachments: Vec<PathBuf>,
    #[serde(default)]
    pub timeout_ms: Option<u64>,
    #[serde(default)]
    pub max_cost: Option<Nano>,
    /// An OpenCode session to go on with, for a dispatch.
    #[serde(default)]
    pub session: Option<String>,
    #[serde(default)]
    pub keep: bool,
    /// Of a batch: the models, as the caller wrote them.
    #[serde(default)]
    pub models: Vec<String>,
    /// Of a workflow: its name, and its steps as they were when it began, each with its model.
    #[serde(default)]
    pub workflow: Option<String>,
    #[serde(default)]
    pub steps: Vec<WorkflowStep>,
    /// The model of each step, as it was promised.
    #[serde(default)]
    pub choices: Vec<Choice>,
    /// A server that the caller named; nothing is a managed one.
    #[serde(default)]
    pub server: Option<String>,
    #[serde(default)]
    pub pause: Pause,
}

impl JobOrder {
    #[must_use]
    pub fn plain(prompt: impl Into<String>, mode: Mode, directory: impl Into<PathBuf>) -> Self {
        Self {
            prompt: prompt.into(),
            mode,
            directory: directory.into(),
            reference: None,
            policy: ModelPolicy::Dynamic,
            task_type: None,
            system: None,
            schema: None,
            attachments: Vec::new(),
            timeout_ms: None,
            max_cost: None,
            session: None,
            keep: false,
            models: Vec::new(),
            workflow: None,
            steps: Vec::new(),
            choices: Vec::new(),
            server: None,
            pause: Pause::Never,
        }
    }
}

/// Which model it was given to, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// What led to it, as it was written.
    pub reference: String,
    pub model: ModelRef,
    pub policy: ModelPolicy,
    pub reason: String,
    pub warnings: Vec<String>,
    /// Whether the request named this very model: then it is never exchanged for another.
    #[serde(default)]
    pub named: bool,
    /// The tier that had a part in it: what the job costs is charged to that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<TierPart>,
}

/// How a tier led to a model.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierPart {
    pub rule: Rule,
    /// The tier that the model was taken from.
    pub taken: Option<String>,
    /// The tier that was asked for, when it is another one.
    pub requested: Option<String>,
}
