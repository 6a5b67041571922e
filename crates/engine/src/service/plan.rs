//! The steps from what is there to what is wanted, and doing them.

use super::{ServiceError, cron, tools::Tools};
use serde::{Serialize, Serializer, ser::SerializeStruct};
use shuntyard_host::{
    bounded::wait_until,
    paths::{private_dir, write_private},
};
use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    Installed,
    Updated,
    Unchanged,
    Removed,
    Absent,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    pub outcome: Outcome,
    pub steps: Vec<Step>,
    pub warnings: Vec<String>,
}

impl Change {
    pub(super) fn nothing(outcome: Outcome) -> Self {
        Self { outcome, steps: Vec::new(), warnings: Vec::new() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// Makes a directory of ours, for this user only.
    Directory(PathBuf),
    Write {
        path: PathBuf,
        text: String,
    },
    Remove(PathBuf),
    Run(Vec<String>),
    /// Runs a command that fails while something else is still ending; it is tried again for a while.
    Retry(Vec<String>),
    /// Hands over a new crontab. Only `shown`, our own part, is for other eyes.
    Crontab {
        before: Vec<u8>,
        after: Vec<u8>,
        shown: String,
    },
}

/// How long what was told to end may take.
const PATIENCE: Duration = Duration::from_secs(10);

pub(super) fn run(words: &[&str]) -> Step {
    Step::Run(words.iter().map(|word| (*word).to_owned()).collect())
}

/// Does the steps one after the other; the first that fails ends it. Installing again goes on from there.
pub(super) fn perform(change: &Change, tools: &Tools, mode: super::Mode) -> Result<(), ServiceError> {
    if mode == super::Mode::Show {
        return Ok(());
    }
    change.steps.iter().try_for_each(|step| step.perform(tools))
}

impl Step {
    fn perform(&self, tools: &Tools) -> Result<(), ServiceError> {
        match self {
            Self::Directory(path) => private_dir(path).map_err(failing("make", path)),
            Self::Write { path, text } => {
                if let Some(directory) = path.parent() {
                    fs::create_dir_all(directory).map_err(failing("make", directory))?;
                }
                write_private(path, text.as_bytes()).map_err(failing("write", path))
            }
            Self::Remove(path) => fs::remove_file(path).map_err(failing("remove", path)),
            Self::Run(command) => Ok(tools.run(command).map(drop)?),
            Self::Retry(command) => {
                let mut last = tools.run(command);
                // A failure is an answer here, so there is nothing that could end the waiting early.
                let _ = wait_until(PATIENCE, || {
                    if last.as_ref().is_err_and(|error| !error.is_missing()) {
                        last = tools.run(command);
                    }
                    Ok(last.is_ok().then_some(()))
                });
                Ok(last.map(drop)?)
            }
            Self::Crontab { before, after, shown } => cron::replace(tools, before, after, shown),
        }
    }
}

fn failing(what: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> ServiceError {
    let path = path.to_owned();
    move |source| ServiceError::File { what, path, source }
}

/// As `{"do": "write", "path": …, "text": …}` and the like.
impl Serialize for Step {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("Step", 3)?;
        match self {
            Self::Directory(path) => {
                fields.serialize_field("do", "make_directory")?;
                fields.serialize_field("path", &path.to_string_lossy())?;
            }
            Self::Write { path, text } => {
                fields.serialize_field("do", "write")?;
                fields.serialize_field("path", &path.to_string_lossy())?;
                fields.serialize_field("text", text)?;
            }
            Self::Remove(path) => {
                fields.serialize_field("do", "remove")?;
                fields.serialize_field("path", &path.to_string_lossy())?;
            }
            Self::Run(command) | Self::Retry(command) => {
                fields.serialize_field("do", "run")?;
                fields.serialize_field("command", command)?;
            }
            Self::Crontab { after, shown, .. } => {
                fields.serialize_field("do", "run")?;
                fields.serialize_field("command", &cron::command(after, "FILE"))?;
                fields.serialize_field("block", shown)?;
            }
        }
        fields.end()
    }
}
