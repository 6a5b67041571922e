//! Running a command line that a person wrote, such as the tests that must pass, and keeping its output.
//!
//! Invariant: when [`Check::run`] returns, nothing that the command started is left, whether it ended by itself or by
//! its deadline. What it prints can neither block it nor fill the disk, and only this user can read the log.

mod output;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::{Duration, Instant};

use crate::GuardedCommand;
use crate::guarded::Environment;
use output::Output;

/// The guard ends its processes by asking, then by force; this long after its grace it is stuck itself.
const GUARD_PATIENCE: Duration = Duration::from_secs(15);

#[derive(Debug, thiserror::Error)]
pub enum ShellError {
    #[error("write the log {}", path.display())]
    Log { path: PathBuf, source: io::Error },
    #[error("start the command")]
    Start(#[source] io::Error),
    #[error("see the command end")]
    Wait(#[source] io::Error),
}

#[derive(Debug, Clone)]
pub struct Check {
    /// For `sh -c`.
    pub command: String,
    pub directory: PathBuf,
    /// All that the command finds in its environment, besides the guard's mark.
    pub variables: Vec<(OsString, OsString)>,
    pub deadline: Duration,
    /// At its deadline it is asked to end, and after this long killed.
    pub grace: Duration,
    /// Made anew; the directory must be there.
    pub log: PathBuf,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    pub exit: Exit,
    /// The last of what it printed, on both outputs, as far as that is text.
    pub tail: String,
    pub log: PathBuf,
    pub took: Duration,
    /// All that it printed.
    pub output_bytes: u64,
    /// What of that is in the log: its beginning, up to 10 MiB, or less when the disk is full.
    pub logged_bytes: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    Code(i32),
    /// A signal ended it. A shell reports that of its own children as 128 and the number, and so does the guard, so
    /// a command that ends with such a code by itself counts as well.
    Signal(i32),
    /// It was ended because it took too long.
    Deadline,
}

impl Check {
    /// Runs the command line to its end, blocking. `own` is a program that can be the guard; see
    /// [`crate::guard::own_executable`].
    pub fn run(&self, own: &Path) -> Result<Checked, ShellError> {
        let log_fault = |source| ShellError::Log { path: self.log.clone(), source };
        let (reader, writer) = io::pipe().map_err(ShellError::Start)?;
        let output = Output::collect(reader, &self.log).map_err(log_fault)?;
        let started = Instant::now();
        let mut child = self.command(writer).and_then(|command| command.spawn(own)).map_err(ShellError::Start)?;
        let exit = match child.wait_timeout(self.deadline).map_err(ShellError::Wait)? {
            Some(status) => exit_of(status),
            None => {
                child.shutdown(self.grace.saturating_add(GUARD_PATIENCE)).map_err(ShellError::Wait)?;
                Exit::Deadline
            }
        };
        let took = started.elapsed();
        let said = output.finish();
        Ok(Checked {
            exit,
            tail: said.tail,
            log: self.log.clone(),
            took,
            output_bytes: said.total,
            logged_bytes: said.logged,
        })
    }

    fn command(&self, writer: io::PipeWriter) -> io::Result<GuardedCommand> {
        let mut command = GuardedCommand::new("/bin/sh", ["-c", self.command.as_str()]);
        command.environment = Environment::Empty;
        command.variables.clone_from(&self.variables);
        command.directory = Some(self.directory.clone());
        command.grace = self.grace;
        // One pipe for both, so that the log has the lines in their order.
        command.stdout = Stdio::from(writer.try_clone()?);
        command.stderr = Stdio::from(writer);
        Ok(command)
    }
}

fn exit_of(status: ExitStatus) -> Exit {
    match (status.code(), status.signal()) {
        (Some(code @ 129..=159), _) => Exit::Signal(code - 128),
        (Some(code), _) => Exit::Code(code),
        (None, signal) => Exit::Signal(signal.unwrap_or(crate::Signal::KILL.as_raw())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exits_are_told_apart() {
        let table = [
            (0, Exit::Code(0)),
            (3 << 8, Exit::Code(3)),
            (127 << 8, Exit::Code(127)),
            (128 << 8, Exit::Code(128)),
            (137 << 8, Exit::Signal(9)),
            (143 << 8, Exit::Signal(15)),
            (160 << 8, Exit::Code(160)),
            (255 << 8, Exit::Code(255)),
            (9, Exit::Signal(9)),
        ];
        for (raw, wanted) in table {
            assert_eq!(exit_of(ExitStatus::from_raw(raw)), wanted, "{raw}");
        }
    }
}
