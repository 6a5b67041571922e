//! The signs that a text can show besides its words. The configuration sets what each is worth.

use std::fmt;

word_enum! {
    #[derive(PartialOrd, Ord)]
    pub enum Sign {
        /// A change in the format of `git diff`.
        Diff = "diff",
        /// A fenced block, or several lines that look like a program.
        Code = "code",
        StackTrace = "stack_trace",
        /// A line as compilers, shells and runtimes write it when something failed.
        ErrorText = "error_text",
        /// A sentence that asks for an answer, as opposed to a request that is put as a question.
        Question = "question",
        /// A question that yes or no answers.
        YesNo = "yes_no",
        Short = "short",
        Long = "long",
        Url = "url",
        Image = "image",
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
