//! Runs the programs of the system, with the caller's variables and a deadline.

use super::ToolError;
use shuntyard_host::bounded::{self, Finished};
use std::{collections::BTreeMap, path::Path, process::Command, time::Duration};

/// They talk to a daemon of the same machine; one that takes longer than this hangs.
const DEADLINE: Duration = Duration::from_secs(30);

#[derive(Debug)]
pub struct Tools {
    environment: BTreeMap<String, String>,
    deadline: Duration,
}

impl Tools {
    pub fn new(environment: &BTreeMap<String, String>) -> Self {
        let mut environment = environment.clone();
        // What they say is read: in English, and times without a zone to guess.
        environment.extend([("LC_ALL".into(), "C".into()), ("TZ".into(), "UTC".into())]);
        Self { environment, deadline: DEADLINE }
    }

    /// Where a file for one of them can be put.
    pub fn scratch(&self) -> &Path {
        self.environment.get("TMPDIR").map_or(Path::new("/tmp"), Path::new)
    }

    #[cfg(test)]
    pub fn with_deadline(self, deadline: Duration) -> Self {
        Self { deadline, ..self }
    }

    /// Runs it to its end, whatever that is.
    pub fn ask(&self, command: &[impl AsRef<str>]) -> Result<Finished, ToolError> {
        let mut words = command.iter().map(AsRef::as_ref);
        let mut process = Command::new(words.next().unwrap_or_default());
        process.args(words).env_clear().envs(&self.environment);
        bounded::run(&mut process, self.deadline).map_err(|error| ToolError::not_run(shown(command), &error))
    }

    /// Runs it, and it has to succeed.
    pub fn run(&self, command: &[impl AsRef<str>]) -> Result<String, ToolError> {
        let finished = self.ask(command)?;
        if finished.status.success() {
            return Ok(String::from_utf8_lossy(&finished.stdout).into_owned());
        }
        Err(failure(command, &finished))
    }
}

pub fn failure(command: &[impl AsRef<str>], finished: &Finished) -> ToolError {
    let why = match finished.status.code() {
        Some(code) => format!("failed with exit {code}"),
        None => "was ended by a signal".to_owned(),
    };
    ToolError::failed(shown(command), why, &finished.stderr)
}

/// A command as one could type it.
pub fn shown(command: &[impl AsRef<str>]) -> String {
    let plain = |letter: char| letter.is_alphanumeric() || "/._-+:,@=".contains(letter);
    let words = command.iter().map(AsRef::as_ref).map(|word| {
        if !word.is_empty() && word.chars().all(plain) {
            word.to_owned()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
