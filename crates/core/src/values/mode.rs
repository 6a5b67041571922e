//! How a prompt is run, where, and what that needs and may do.

use serde::{Deserialize, Serialize};
use std::fmt;

word_enum! {
    /// How the prompt is run.
    pub enum Mode {
        /// One answer, no tools.
        Text = "text",
        /// Tools, in the working directory, over several steps.
        Agent = "agent",
        /// One of the user's own OpenCode commands.
        Command = "command",
    }
}

impl fmt::Display for Mode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a worker may do where it works.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    #[default]
    Read,
    Write,
}

/// Something that a model can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Capability {
    Vision,
    Tools,
    Reasoning,
    Structured,
}

word_enum! {
    /// Where a worker lives.
    pub enum Backend {
        /// In a session on a server that others use too.
        Agent = "agent",
        /// On a server of its own.
        Server = "server",
    }
}
