//! What was found when an attempt had ended: read from git, from processes and from OpenCode, never from a text.

use super::TaskId;
use crate::{ErrorClass, Nano, pattern::Deadline};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    pub end: End,
    /// The last words of the agent, shortened. They are kept, and prove nothing.
    pub said: String,
    /// `None` for work in place.
    pub base: Option<Commit>,
    pub head: Option<Commit>,
    pub commits: u32,
    /// Relative to the top of the repository, sorted.
    pub changed: Vec<String>,
    /// Lines added and deleted, without binary files; and how many of those there are.
    pub lines: u64,
    pub binaries: u32,
    /// What is different in the parent checkout than before.
    pub trespass: Vec<String>,
    pub secrets: Vec<Secret>,
    /// Files that still have the marks of a conflict in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmerged: Vec<String>,
    /// In the order in which they were run; the first that is not green is the last.
    pub checks: Vec<Check>,
    /// The model that was asked for, and the one that answered.
    pub asked: Option<String>,
    pub answered: Option<String>,
    pub cost: Nano,
    pub cost_known: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Commit {
    pub commit: String,
    pub tree: String,
}

/// How the agent itself ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum End {
    Answered,
    Failed {
        class: ErrorClass,
        message: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline: Option<Deadline>,
        /// When the limit it ran into is over, as far as anybody said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        until: Option<i64>,
    },
    /// We ended it.
    Stopped {
        why: Stop,
    },
    /// A command ended.
    Exit {
        exit: Exit,
    },
    /// It could not be started.
    NotStarted {
        message: String,
    },
}

/// Why we ended an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    Circles,
    Deadline,
    Silence,
    Money,
    /// Somebody wanted it.
    Cancelled,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    Code(i32),
    Signal(i32),
    Deadline,
}

impl Exit {
    #[must_use]
    pub fn is_green(self) -> bool {
        self == Self::Code(0)
    }

    #[must_use]
    pub fn shown(self) -> String {
        match self {
            Self::Code(code) => format!("exit {code}"),
            Self::Signal(signal) => format!("signal {signal}"),
            Self::Deadline => "no end in time".to_owned(),
        }
    }
}

/// A verify command that was run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Check {
    pub command: String,
    pub exit: Exit,
    /// The end of what it printed, with secrets masked.
    pub tail: String,
    pub took_ms: u64,
}

/// Something that looks like a secret in what was added. The secret itself is not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    pub path: String,
    pub line: u64,
    pub looks_like: String,
}

/// The proof of how a task ended. It says enough to be made again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub task: TaskId,
    pub epoch: i64,
    pub at: i64,
    pub good: bool,
    pub reasons: Vec<String>,
    pub findings: Findings,
}
