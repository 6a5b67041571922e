//! The steps from what is there to what is wanted.

use serde::{Serialize, Serializer, ser::SerializeStruct};
use std::path::PathBuf;

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
    /// Installs a new crontab. Only `shown`, our own part, is for other eyes.
    Crontab {
        before: Vec<u8>,
        after: Vec<u8>,
        shown: String,
    },
}

/// The command that installs the new crontab. None at all is better than an empty one, which is what there was before.
pub(super) fn crontab_command(after: &[u8], file: &str) -> Vec<String> {
    let last = if after.is_empty() { "-r" } else { file };
    vec!["crontab".to_owned(), last.to_owned()]
}

pub(super) fn run(words: &[&str]) -> Step {
    Step::Run(words.iter().map(|word| (*word).to_owned()).collect())
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
                fields.serialize_field("command", &crontab_command(after, "FILE"))?;
                fields.serialize_field("block", shown)?;
            }
        }
        fields.end()
    }
}
