//! The commands that test a project: those of the configuration, or else those of `.ai/context.md`.

use super::Place;
use crate::{Context, base::hash::short_hash};
use serde::Serialize;
use shuntyard_core::roles::spec::test_commands;
use shuntyard_host::{
    guard::DEFAULT_GRACE,
    paths::private_dir,
    shell::{self, Exit},
    text_file::{MOST_CONFIG_BYTES, read_text},
};
use std::path::PathBuf;

const CONTEXT_FILE: &str = ".ai/context.md";

/// Who says how tests are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum TestSource {
    #[serde(rename = "configuration")]
    Configuration,
    #[serde(rename = ".ai/context.md")]
    Context,
}

impl TestSource {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Configuration => "the configuration",
            Self::Context => CONTEXT_FILE,
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TestCommands {
    pub source: TestSource,
    pub commands: Vec<String>,
}

/// Nothing when neither says how tests are run.
#[must_use]
pub fn testing(context: &Context, place: &Place) -> Option<TestCommands> {
    let set = Some(crate::settings_of(&context.config, place.root()).verify).filter(|commands| !commands.is_empty());
    let written = || {
        let text = read_text(&place.root().join(CONTEXT_FILE), MOST_CONFIG_BYTES).ok()?;
        Some(test_commands(&text)).filter(|commands| !commands.is_empty())
    };
    let from = |source| move |commands| TestCommands { source, commands };
    set.map(from(TestSource::Configuration)).or_else(|| written().map(from(TestSource::Context)))
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Tested {
    pub command: String,
    /// `null` when a signal or the time limit ended it.
    pub exit: Option<i32>,
    pub timed_out: bool,
    /// The end of what it printed.
    pub tail: String,
    pub log: PathBuf,
}

impl Tested {
    #[must_use]
    pub fn is_green(&self) -> bool {
        self.exit == Some(0)
    }
}

/// Runs one of them at the top of the repository, blocking. Nothing that it started is left.
pub fn run_test(context: &Context, place: &Place, command: &str) -> Result<Tested, String> {
    let logs = context.paths.data_dir.join("tests");
    private_dir(&logs).map_err(|error| format!("{}: {error}", logs.display()))?;
    let check = shell::Check {
        command: command.to_owned(),
        directory: place.root().to_owned(),
        variables: context.environment.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        deadline: context.config.supervise.verify_timeout.0.unwrap_or(std::time::Duration::MAX),
        grace: DEFAULT_GRACE,
        // One for each command, so that they do not pile up.
        log: logs.join(format!("{}.log", short_hash(&format!("{} {command}", place.root().display())))),
    };
    let checked = check.run(&context.program).map_err(|error| format!("failed to {error}"))?;
    let exit = match checked.exit {
        Exit::Code(code) => Some(code),
        Exit::Signal(_) | Exit::Deadline => None,
    };
    let timed_out = checked.exit == Exit::Deadline;
    Ok(Tested { command: command.to_owned(), exit, timed_out, tail: checked.tail, log: checked.log })
}
