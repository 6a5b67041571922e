//! What a caller wants to be started, and what it gets at once.

use serde::Serialize;
use serde_json::Value;
use shuntyard_core::{
    Nano,
    values::{Backend, Mode, ModelPolicy},
    word_enum,
    work::job::Pause,
};
use std::{path::PathBuf, time::Duration};

word_enum! {
    /// Which kind of work.
    pub enum StartKind {
        /// A worker whose profile the router picks.
        Auto = "auto",
        Worker = "worker",
        Workflow = "workflow",
        Dispatch = "dispatch",
        Batch = "batch",
        /// A task that is supervised in a worktree, with evidence.
        Supervised = "supervised",
    }
}

/// What a caller asks for. What it is not needed for is refused, not ignored.
#[derive(Debug, Clone)]
pub struct Start {
    pub kind: StartKind,
    pub task: String,
    pub directory: PathBuf,
    /// A worker by name, or a profile.
    pub worker: Option<String>,
    pub model: Option<String>,
    pub policy: ModelPolicy,
    pub task_type: Option<String>,
    pub attachments: Vec<PathBuf>,
    pub timeout: Option<Duration>,
    pub force_new: bool,
    pub backend: Option<Backend>,
    pub system: Option<String>,
    pub schema: Option<Value>,
    /// Of a dispatch.
    pub mode: Mode,
    pub session: Option<String>,
    pub keep: bool,
    pub max_cost: Option<Nano>,
    /// Of a batch.
    pub models: Vec<String>,
    /// Of a workflow: its name; or the run that is to go on.
    pub workflow: Option<String>,
    pub run: Option<String>,
    pub pause: Pause,
    /// Of a supervised task.
    pub verify: Vec<String>,
    pub deliver: Option<String>,
    pub base: Option<String>,
}

impl Start {
    #[must_use]
    pub fn plain(kind: StartKind, task: impl Into<String>, directory: impl Into<PathBuf>) -> Self {
        Self {
            kind,
            task: task.into(),
            directory: directory.into(),
            worker: None,
            model: None,
            policy: ModelPolicy::Dynamic,
            task_type: None,
            attachments: Vec::new(),
            timeout: None,
            force_new: false,
            backend: None,
            system: None,
            schema: None,
            mode: Mode::Text,
            session: None,
            keep: false,
            max_cost: None,
            models: Vec::new(),
            workflow: None,
            run: None,
            pause: Pause::Never,
            verify: Vec::new(),
            deliver: None,
            base: None,
        }
    }
}

/// What is known right after the start.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Started {
    pub id: String,
    pub kind: String,
    pub status: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// How many are before it.
    pub position: Option<u32>,
    pub reference: Option<String>,
    pub model: Option<String>,
    pub policy: Option<String>,
    pub reason: Option<String>,
    /// Such as: a new worker was made, and why.
    pub notes: Vec<String>,
}
