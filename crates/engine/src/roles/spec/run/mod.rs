//! Runs a spec to its end: each role is a supervised task, begun when the one before is done, up to the verdict and the
//! delivery.
//!
//! Invariant: nothing is remembered here. What was done is in the store and on the branches of the tasks, so another
//! run of the spec goes on where it is; and the id of a task is the right to do a step, which only one can take.

mod borders;
mod clear;
mod describe;
mod drive;
mod git;
mod handoff;
mod look;
mod moves;
mod names;
mod order;
mod plan;
mod preview;
mod report;
mod stuck;
#[cfg(test)]
mod tests;

pub use drive::run;
pub(super) use names::{labelled, spec_label};
pub use plan::{Part, Plan, plan};
pub use preview::{Planned, preview};
pub use report::{Kept, PartReport, RoleReport, RunReport, Stand};

use super::ReadError;
use crate::queue::supervise::{AddError, ChangeError};
use shuntyard_core::{
    Nano,
    roles::spec::Role,
    values::Deliver,
    work::task::{BadTaskId, TaskId},
};
use shuntyard_host::git::GitError;
use shuntyard_store::StoreError;
use std::sync::Arc;

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error(transparent)]
    Read(#[from] ReadError),
    /// What was named cannot be run by itself.
    #[error("{message}")]
    Usage { message: String, hint: String },
    /// The spec or the repository is not as it has to be.
    #[error("{message}")]
    Refused { message: String, hint: String },
    #[error("failed to {0}")]
    Git(#[from] GitError),
    #[error(transparent)]
    Add(#[from] AddError),
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Name(#[from] BadTaskId),
    #[error("the handoff cannot be written: {0}")]
    Handoff(std::io::Error),
    #[error("a look at the branches was cut off")]
    CutOff,
}

/// How the spec is to be run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Wish {
    pub deliver: Deliver,
    pub model: Option<String>,
    pub tier: Option<String>,
    /// Commands that have to end with 0 from the implementer on.
    pub verify: Vec<String>,
    /// For the whole spec.
    pub max_cost: Option<Nano>,
}

/// A thing that is one task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Step {
    Role(Role),
    /// What was validated goes where it belongs. No model works on this.
    Deliver,
}

impl Step {
    const DELIVER: &'static str = "deliver";

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Role(role) => role.as_str(),
            Self::Deliver => Self::DELIVER,
        }
    }
}

/// What a run reports.
#[derive(Debug)]
pub enum RunProgress<'a> {
    Added { task: &'a TaskId, base: &'a str },
    Became { task: &'a TaskId, stand: Stand, reason: &'a str },
    Held(&'a str),
    Trouble(&'a str),
}

pub type Teller = Arc<dyn Fn(RunProgress<'_>) + Send + Sync>;
