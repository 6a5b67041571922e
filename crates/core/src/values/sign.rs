//! The signs that a text can show besides its words. The configuration says what each is worth.

use serde::{Deserialize, Serialize};
use std::fmt;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// A change in the format of `git diff`.
    Diff,
    /// A fenced block, or several lines that look like a program.
    Code,
    StackTrace,
    /// A line as compilers, shells and runtimes write it when something failed.
    ErrorText,
    /// A sentence that asks for an answer, as opposed to a request that is put as a question.
    Question,
    /// A question that yes or no answers.
    YesNo,
    Short,
    Long,
    Url,
    Image,
}

impl Sign {
    /// Its name in the configuration.
    #[must_use]
    pub fn key(self) -> &'static str {
        match self {
            Self::Diff => "diff",
            Self::Code => "code",
            Self::StackTrace => "stack_trace",
            Self::ErrorText => "error_text",
            Self::Question => "question",
            Self::YesNo => "yes_no",
            Self::Short => "short",
            Self::Long => "long",
            Self::Url => "url",
            Self::Image => "image",
        }
    }
}

impl fmt::Display for Sign {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Diff => "a diff",
            Self::Code => "code",
            Self::StackTrace => "a stack trace",
            Self::ErrorText => "an error message",
            Self::Question => "a question",
            Self::YesNo => "a yes-or-no question",
            Self::Short => "a short text",
            Self::Long => "a long text",
            Self::Url => "a link",
            Self::Image => "an image",
        })
    }
}
