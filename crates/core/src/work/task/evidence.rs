//! What was found when an attempt had ended: read from git, from processes and from OpenCode, never from a text.

use super::TaskId;
use crate::{ErrorClass, Nano, experience::Deadline};
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
    /// What its calls show that the agent changed in the user's checkout.
    pub trespass: Vec<String>,
    /// What else changed there while the agent ran, in sentences. It proves nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    pub secrets: Vec<Secret>,
    /// Files that still have the marks of a conflict in them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmerged: Vec<String>,
    /// A rebase or another operation that has not applied all of its commits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unfinished: Option<String>,
    /// In the order in which they were run, in a clean checkout of `head`; the first that is not green is the last.
    pub checks: Vec<Check>,
    /// The same commands in a clean checkout of `base`, when they were run there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub before: Vec<Check>,
    /// Files of the base that are deleted, and how many the base has, which is counted only when some are deleted.
    #[serde(default)]
    pub deleted: u64,
    #[serde(default)]
    pub files: u64,
    /// Submodules and nested repositories at commits that the user's repository does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dangling: Vec<String>,
    /// Symbolic links to what is in the directory of workspaces: it is there while the work is verified, and not later.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub astray: Vec<String>,
    /// Commits that the repository had before, outside of the base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub foreign: Vec<String>,
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
        /// When the limit it ran into is over, as far as it is known.
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
    /// It was not started: something has to happen first.
    Blocked {
        message: String,
    },
    /// It removed or replaced the git directory of its workspace, so its work cannot be judged.
    RepositoryLost,
    /// It was not started: the task wants a verify command that fails before the work, and all succeed.
    GreenBefore,
}

/// Why we ended an agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stop {
    Circles,
    Deadline,
    Silence,
    Money,
    /// It was cancelled on request.
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

/// The proof of how a task ended. It has all that is needed to reproduce it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Receipt {
    pub task: TaskId,
    pub epoch: i64,
    pub at: i64,
    pub good: bool,
    pub reasons: Vec<String>,
    /// The commit that the work starts from, and the one that was verified.
    #[serde(default)]
    pub base: Option<String>,
    #[serde(default)]
    pub commit: Option<String>,
    #[serde(default)]
    pub verify: Vec<VerifyResult>,
    pub findings: Findings,
}

/// How a verify command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerifyResult {
    pub command: String,
    /// Absent when a signal or the deadline ended it.
    pub exit: Option<i32>,
    /// Whether it ran in a clean checkout of the commit.
    pub clean: bool,
    /// Whether it failed before the work; absent when it was not run there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub red_before: Option<bool>,
}

impl Receipt {
    #[must_use]
    pub fn new(task: TaskId, epoch: i64, at: i64, good: bool, reasons: Vec<String>, findings: Findings) -> Self {
        let commit = |commit: &Option<Commit>| commit.as_ref().map(|commit| commit.commit.clone());
        let before = |command: &str| findings.before.iter().find(|check| check.command == command);
        let verify = findings.checks.iter().map(|check| VerifyResult {
            command: check.command.clone(),
            exit: match check.exit {
                Exit::Code(code) => Some(code),
                Exit::Signal(_) | Exit::Deadline => None,
            },
            clean: findings.head.is_some(),
            red_before: before(&check.command).map(|check| !check.exit.is_green()),
        });
        let verify = verify.collect();
        let (base, commit) = (commit(&findings.base), commit(&findings.head));
        Self { task, epoch, at, good, reasons, base, commit, verify, findings }
    }
}
