//! The state of a task. Each state carries what it needs, so that an impossible one cannot be written.

use super::{PermissionReply, PermissionRequest};
use crate::values::Deliver;
use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum State {
    /// Ready as soon as its blockers are done and there is capacity.
    Queued,
    /// Nothing happens before a moment; then it is queued again.
    Waiting {
        until: i64,
        wait: Wait,
        detail: String,
    },
    /// Claimed: there is a lease, and a worker is being started for this part of the work.
    Starting {
        stage: Stage,
    },
    /// The worker has an agent at work.
    Running,
    /// The agent waits for a permission. Its worker still holds the task.
    Asking {
        request: PermissionRequest,
        /// When it is denied, unless a person has answered.
        until: i64,
        /// The answer that the worker has still to deliver.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        answer: Option<PermissionReply>,
    },
    /// The agent has ended, and that was written down; the worker gathers the evidence.
    Evaluating,
    /// The evidence is good; the worker hands this commit over.
    Delivering {
        head: String,
    },
    /// A pull request is open. It is looked at again at a moment.
    Review {
        url: String,
        head: String,
        until: i64,
    },
    /// It is to end, and the worker's end is waited for.
    Stopping {
        by: String,
        /// The commit that was being handed over by then. Only that can still come to a good end.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        head: Option<String>,
    },
    Done {
        delivered: Delivered,
    },
    /// Its own limit of tries is used up.
    Failed {
        detail: String,
    },
    /// Nothing will happen until a person does something.
    Blocked {
        cause: Cause,
        detail: String,
    },
    Cancelled {
        by: String,
    },
}

/// The part of the work that a worker begins with. A worker that died is followed by one that goes on there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "at")]
pub enum Stage {
    Work,
    Evaluate,
    Deliver { head: String },
}

/// What a task waits for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wait {
    /// The provider's limit or allowance to be reset.
    Limit,
    /// A budget's next period.
    Budget,
    /// Something that is likely to pass: a network, a server.
    Trouble,
    /// Another owner has claimed it in TODO.md.
    Claim,
    /// The entries of a contest to settle.
    Entries,
}

/// Why a person is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A key, a login, a model or a program is missing.
    Access,
    /// What it may cost is spent.
    Budget,
    /// Every step of the ladder was tried.
    Exhausted,
    /// The same failure came twice, so a third try would be for nothing.
    Parked,
    /// The repository is not as the task needs it.
    Repository,
    /// The agent itself reported what has to happen first.
    Needs,
    /// The task does not determine what is wanted.
    Ambiguous,
    /// Something was changed that must not be.
    Trespass,
    /// The pull request was closed without being merged.
    Rejected,
}

/// How work that is done was handed over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum Delivered {
    Branch {
        branch: String,
        head: String,
    },
    Merged {
        base: String,
        head: String,
    },
    PullRequest {
        url: String,
        head: String,
    },
    /// A command in place: there is nothing to hand over.
    Nothing,
}

word_enum! {
    /// The same, as coarse as scripts want it.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Phase {
        Queued = "queued",
        Waiting = "waiting",
        Running = "running",
        Done = "done",
        Failed = "failed",
        Blocked = "blocked",
        Cancelled = "cancelled",
    }
}

impl Phase {
    /// Whether others that depend on it may go on.
    #[must_use]
    pub fn releases(self) -> bool {
        matches!(self, Self::Done | Self::Cancelled)
    }

    /// Whether nothing more happens by itself.
    #[must_use]
    pub fn is_settled(self) -> bool {
        match self {
            Self::Done | Self::Failed | Self::Blocked | Self::Cancelled => true,
            Self::Queued | Self::Waiting | Self::Running => false,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl State {
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Waiting { .. } => "waiting",
            Self::Starting { .. } => "starting",
            Self::Running => "running",
            Self::Asking { .. } => "asking",
            Self::Evaluating => "evaluating",
            Self::Delivering { .. } => "delivering",
            Self::Review { .. } => "review",
            Self::Stopping { .. } => "stopping",
            Self::Done { .. } => "done",
            Self::Failed { .. } => "failed",
            Self::Blocked { .. } => "blocked",
            Self::Cancelled { .. } => "cancelled",
        }
    }

    #[must_use]
    pub fn phase(&self) -> Phase {
        match self {
            Self::Queued => Phase::Queued,
            Self::Waiting { .. } | Self::Review { .. } | Self::Asking { answer: None, .. } => Phase::Waiting,
            Self::Starting { .. }
            | Self::Running
            | Self::Asking { answer: Some(_), .. }
            | Self::Evaluating
            | Self::Delivering { .. }
            | Self::Stopping { .. } => Phase::Running,
            Self::Done { .. } => Phase::Done,
            Self::Failed { .. } => Phase::Failed,
            Self::Blocked { .. } => Phase::Blocked,
            Self::Cancelled { .. } => Phase::Cancelled,
        }
    }

    /// Whether a run holds the task, with its lease and its slots.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.phase() == Phase::Running || matches!(self, Self::Asking { .. })
    }

    /// When it has to be looked at again by itself.
    #[must_use]
    pub fn wakes_at(&self) -> Option<i64> {
        match self {
            Self::Waiting { until, .. } | Self::Review { until, .. } => Some(*until),
            Self::Queued
            | Self::Starting { .. }
            | Self::Running
            | Self::Asking { .. }
            | Self::Evaluating
            | Self::Delivering { .. }
            | Self::Stopping { .. }
            | Self::Done { .. }
            | Self::Failed { .. }
            | Self::Blocked { .. }
            | Self::Cancelled { .. } => None,
        }
    }

    /// Why it is there, for people; empty when the name is enough.
    #[must_use]
    pub fn reason(&self) -> String {
        match self {
            Self::Waiting { detail, .. } | Self::Failed { detail } => detail.clone(),
            Self::Blocked { cause, detail } => format!("{}: {detail}", cause.as_str()),
            Self::Stopping { by, .. } | Self::Cancelled { by } => format!("cancelled by {by}"),
            Self::Asking { request, answer: None, .. } => format!("waits for permission: {}", request.shown()),
            Self::Asking { request, answer: Some(answer), .. } => format!("answered {answer}: {}", request.shown()),
            Self::Review { url, .. } => format!("waits for the review of {url}"),
            Self::Done { delivered } => delivered.to_string(),
            Self::Queued | Self::Starting { .. } | Self::Running | Self::Evaluating | Self::Delivering { .. } => {
                String::new()
            }
        }
    }
}

impl Cause {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Access => "access",
            Self::Budget => "budget",
            Self::Exhausted => "needs a person",
            Self::Parked => "parked",
            Self::Repository => "repository",
            Self::Needs => "needs something first",
            Self::Ambiguous => "ambiguous",
            Self::Trespass => "trespass",
            Self::Rejected => "rejected",
        }
    }
}

impl Delivered {
    #[must_use]
    pub fn head(&self) -> Option<&str> {
        match self {
            Self::Branch { head, .. } | Self::Merged { head, .. } | Self::PullRequest { head, .. } => Some(head),
            Self::Nothing => None,
        }
    }

    /// Whether it fits what was asked for.
    #[must_use]
    pub fn fits(&self, deliver: Deliver) -> bool {
        match self {
            Self::Branch { .. } => deliver == Deliver::Branch,
            Self::Merged { .. } => deliver != Deliver::Branch,
            Self::PullRequest { .. } => deliver == Deliver::Pr,
            Self::Nothing => true,
        }
    }
}

impl fmt::Display for Delivered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |head: &str| head.chars().take(10).collect::<String>();
        match self {
            Self::Branch { branch, head } => write!(f, "ready on {branch} at {}", short(head)),
            Self::Merged { base, head } => write!(f, "merged into {base} at {}", short(head)),
            Self::PullRequest { url, .. } => write!(f, "merged by {url}"),
            Self::Nothing => f.write_str("the command succeeded"),
        }
    }
}
