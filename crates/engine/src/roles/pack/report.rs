//! What was done or would be, file by file.

use serde::Serialize;
use std::path::PathBuf;

/// Whether the change is made, or only reported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    Real,
    Dry,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Everything is as it should be already.
    Unchanged,
    Changed,
    /// Some of it: what the user has written was not changed.
    Partly,
    /// There was nothing to take away.
    NotInstalled,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// A new file.
    Write,
    /// Another content.
    Replace,
    Unchanged,
    /// It was ours, and goes.
    Remove,
    /// What was there before us comes back.
    PutBack,
    /// It was there before us with other content, and stays.
    KeptForeign,
    /// It is ours and was edited since, and stays.
    KeptEdited,
    /// What was there before it is in no backup any more, and it stays.
    KeptLost,
}

impl Change {
    #[must_use]
    pub fn is_kept(self) -> bool {
        matches!(self, Self::KeptForeign | Self::KeptEdited | Self::KeptLost)
    }

    #[must_use]
    pub fn touches(self) -> bool {
        match self {
            Self::Write | Self::Replace | Self::Remove | Self::PutBack => true,
            Self::Unchanged | Self::KeptForeign | Self::KeptEdited | Self::KeptLost => false,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileReport {
    /// Below the target, or absolute for a file that is not in it.
    pub path: String,
    pub change: Change,
    /// From what is there to what the pack has, where both are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl FileReport {
    pub(super) fn plain(path: String, change: Change) -> Self {
        Self { path, change, diff: None, note: None }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct Report {
    pub target: PathBuf,
    pub outcome: Outcome,
    /// The name of the backup that was made.
    pub backup: Option<String>,
    pub files: Vec<FileReport>,
}

impl Report {
    pub(super) fn new(target: PathBuf, files: Vec<FileReport>) -> Self {
        let outcome = outcome(&files);
        Self { target, outcome, backup: None, files }
    }

    /// Marks files that stayed after all, because they were written in the last moment.
    pub(super) fn keep(&mut self, paths: &[String]) {
        for file in self.files.iter_mut().filter(|file| paths.contains(&file.path)) {
            file.change = Change::KeptEdited;
        }
        if !paths.is_empty() {
            self.outcome = outcome(&self.files);
        }
    }
}

fn outcome(files: &[FileReport]) -> Outcome {
    let kept = files.iter().any(|file| file.change.is_kept());
    let touched = files.iter().any(|file| file.change.touches());
    match (kept, touched) {
        (true, _) => Outcome::Partly,
        (false, true) => Outcome::Changed,
        (false, false) => Outcome::Unchanged,
    }
}

/// A file that is not ours to replace, unless the user says so.
#[derive(Debug)]
pub struct Conflict<'c> {
    pub path: &'c str,
    pub change: Change,
    pub diff: &'c str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answer {
    Replace,
    Keep,
}
