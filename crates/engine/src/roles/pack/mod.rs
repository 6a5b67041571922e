//! The workflow pack in a directory of OpenCode: puts its files there, and takes them away again.
//!
//! Invariant: what a user wrote is not lost. It is backed up before it is touched, it is replaced only when the user
//! allows it, and taking the pack away leaves what was there before, byte for byte. Before the first change in the
//! target its manifest says what is about to happen, so that any interruption can be finished or undone.

mod age;
mod backup;
mod config;
mod config_text;
pub(crate) mod diff;
pub(crate) mod disk;
mod error;
mod former_name;
mod found;
mod install;
mod intent;
mod judge;
mod later;
mod manifest;
mod place;
mod plan;
mod report;
mod restore;
mod rivals;
mod trust;
mod undo;
mod uninstall;

#[cfg(test)]
mod tests;

pub use age::Age;
pub use backup::{BackupSummary, backups};
pub use error::PackError;
pub use install::{Install, install};
pub use manifest::Manifest;
pub use place::Place;
pub use report::{Answer, Change, Conflict, FileReport, Outcome, Report, Run};
pub use restore::restore;
pub use rivals::rivals;
pub use trust::installed;
pub use uninstall::uninstall;

/// A file of the pack, with its path below the target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackFile {
    /// Such as `agents/validator.md`.
    pub path: String,
    pub text: String,
}

/// The pack as this program has it.
#[derive(Debug, Clone)]
pub struct Bundle {
    pub version: String,
    /// The form of the permissions, `v1` or `v2`.
    pub format: String,
    pub files: Vec<PackFile>,
}

/// The kinds of files in a pack. Each has a directory of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Agents,
    Commands,
}

impl Part {
    pub const ALL: [Self; 2] = [Self::Agents, Self::Commands];

    #[must_use]
    pub fn directory(self) -> &'static str {
        match self {
            Self::Agents => "agents",
            Self::Commands => "commands",
        }
    }

    #[must_use]
    pub fn of(path: &str) -> Option<Self> {
        let directory = path.split('/').next()?;
        Self::ALL.into_iter().find(|part| part.directory() == directory)
    }
}
