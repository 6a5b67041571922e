//! The id of a task: given by the process that adds it, or the next free number.

use serde::{Deserialize, Serialize};
use std::{fmt, str::FromStr};

/// Such as `t001`, or `t001.2` for a part of it. It names branches and directories, so it is a plain word.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TaskId(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no id of a task: use letters, digits, `-`, `_` and `.`, at most 64, as in t001 or t001.2")]
pub struct BadTaskId(pub String);

const LONGEST: usize = 64;

impl TaskId {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The id of the n-th task without a given one.
    #[must_use]
    pub fn numbered(number: u64) -> Self {
        Self(format!("t{number:03}"))
    }

    /// The number of an id that was made by [`TaskId::numbered`], or looks as if it was.
    #[must_use]
    pub fn number(&self) -> Option<u64> {
        self.0.strip_prefix('t').filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()))?.parse().ok()
    }

    /// The task that this one is a part of: `t001` for `t001.2`.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('.').map(|(parent, _)| Self(parent.to_owned()))
    }
}

impl FromStr for TaskId {
    type Err = BadTaskId;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        // A branch is named after it, and git refuses names with two dots, with one at the end, or with `.lock`.
        let good = !text.is_empty()
            && text.len() <= LONGEST
            && text.chars().all(plain)
            && text.starts_with(|c: char| c.is_ascii_alphanumeric())
            && !text.contains("..")
            && !text.ends_with('.')
            && !text.split('.').any(|part| part == "lock");
        if good { Ok(Self(text.to_owned())) } else { Err(BadTaskId(text.to_owned())) }
    }
}

impl TryFrom<String> for TaskId {
    type Error = BadTaskId;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TaskId> for String {
    fn from(id: TaskId) -> Self {
        id.0
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
