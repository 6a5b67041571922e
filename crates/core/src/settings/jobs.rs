//! Workers, workflows, and how the work that was handed to them is kept.

use crate::values::{Access, Backend, Capability, Mode, WorkflowStep, duration::Limit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Jobs {
    pub at_once: u32,
    pub most_workers: usize,
    pub most_servers: usize,
    pub idle_timeout: Limit,
    pub keep: Limit,
    pub await_limit: Limit,
    pub progress_every: Limit,
    pub task_chars: usize,
    #[serde(deserialize_with = "crate::values::size::mebibytes")]
    pub attachment_mib: u64,
    pub attachments: usize,
    pub workflow_steps: usize,
    pub workflow_task_chars: usize,
    pub carry_chars: usize,
    pub step_timeout: Limit,
    pub default_profile: String,
    pub image_profile: String,
    pub auto: BTreeMap<String, String>,
}

/// How the workers of a profile work; which model they have is in `profiles`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkerProfile {
    #[serde(default)]
    pub description: String,
    #[serde(default = "agent")]
    pub mode: Mode,
    /// Whether it may change files and run commands, or only look.
    #[serde(default)]
    pub access: Access,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Capability>,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub system: String,
    #[serde(default = "shared")]
    pub backend: Backend,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Limit>,
}

impl Default for WorkerProfile {
    fn default() -> Self {
        Self {
            description: String::new(),
            mode: agent(),
            access: Access::default(),
            needs: Vec::new(),
            system: String::new(),
            backend: shared(),
            timeout: None,
        }
    }
}

fn agent() -> Mode {
    Mode::Agent
}

fn shared() -> Backend {
    Backend::Agent
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Workflow {
    #[serde(default)]
    pub description: String,
    pub steps: Vec<WorkflowStep>,
}
