//! What can keep a service from being installed, removed or looked at.

use serde::Serialize;
use shuntyard_core::values::redact::redact;
use shuntyard_host::{
    bounded::RunError,
    service::{Manager, Unsayable, cron::BrokenBlock},
};
use std::{fmt, io, path::PathBuf};

/// What supervises already.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Duplicate {
    /// The same instance, installed by us with another manager.
    Installed { manager: Manager },
    /// A user's own entry, in the crontab or in a file.
    ByHand { place: String, text: String },
}

impl fmt::Display for Duplicate {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Installed { manager } => write!(formatter, "it is installed with {}", manager.as_str()),
            Self::ByHand { place, text } => write!(formatter, "{place} has `{text}`"),
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    #[error("there is neither a systemd that answers this user, nor launchd, nor a crontab that can be read")]
    NoManager,
    #[error("HOME is not set")]
    NoHome,
    #[error("{} is not text, and cannot be written down", .0.display())]
    NotText(PathBuf),
    #[error("this program is not at {} any more", .0.display())]
    NoProgram(PathBuf),
    #[error("failed to {0}")]
    Unsayable(#[from] Unsayable),
    #[error("failed to {0}")]
    BrokenBlock(#[from] BrokenBlock),
    #[error("something supervises already: {}", list(.0))]
    Duplicates(Vec<Duplicate>),
    #[error("{} is there, and `shuntyard service install` did not make it", .0.display())]
    Foreign(PathBuf),
    #[error("the crontab was changed by somebody else at the same time; nothing was written")]
    CrontabChanged,
    #[error("`crontab` took the entry and does not show it")]
    CrontabLost,
    #[error("failed to {what} {}: {source}", path.display())]
    File { what: &'static str, path: PathBuf, source: io::Error },
    #[error(transparent)]
    Tool(#[from] ToolError),
}

fn list(duplicates: &[Duplicate]) -> String {
    duplicates.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ")
}

/// A program of the system that did not do what it was asked; always with the command, so that it can be tried by hand.
#[derive(Debug, thiserror::Error)]
pub enum ToolError {
    #[error("`{command}` cannot be run: there is no such program in PATH")]
    Missing { command: String },
    #[error("`{command}` {why}{}", after(said))]
    Failed { command: String, why: String, said: String },
}

impl ToolError {
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Missing { .. })
    }

    pub(super) fn not_run(command: String, error: &RunError) -> Self {
        match error {
            RunError::Start(error) if error.kind() == io::ErrorKind::NotFound => Self::Missing { command },
            RunError::Start(error) => Self::failed(command, format!("cannot be run: {error}"), &[]),
            RunError::Wait(error) => Self::failed(command, format!("was lost: {error}"), &[]),
            RunError::Deadline { deadline, stderr } | RunError::Idle { idle: deadline, stderr } => {
                Self::failed(command, format!("did not end within {} s", deadline.as_secs_f32()), stderr)
            }
            RunError::TooLarge { limit } => Self::failed(command, format!("printed more than {limit} bytes"), &[]),
        }
    }

    pub(super) fn failed(command: String, why: String, stderr: &[u8]) -> Self {
        Self::Failed { command, why, said: redact(String::from_utf8_lossy(stderr).trim()) }
    }
}

fn after(said: &str) -> String {
    if said.is_empty() { String::new() } else { format!(": {said}") }
}
