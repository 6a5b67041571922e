//! One call of git, from its arguments to its answer or its error.

use std::ffi::OsStr;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use super::{Git, GitError};
use crate::bounded::{self, Finished, Patience, RunError, Streamed};

/// Against a git that spins for ever; no checkout takes this long.
const LONGEST: Duration = Duration::from_secs(6 * 60 * 60);

impl Git {
    /// What any git command printed in a directory, when it ended with 0.
    pub fn output<S: AsRef<OsStr>>(&self, directory: &Path, args: &[S]) -> Result<Vec<u8>, GitError> {
        let head = [OsStr::new("-C"), directory.as_os_str()];
        let words: Vec<&OsStr> = head.into_iter().chain(args.iter().map(AsRef::as_ref)).collect();
        self.succeed(&words)
    }

    pub(super) fn line<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<String, GitError> {
        Ok(String::from_utf8_lossy(&self.succeed(args)?).trim().to_owned())
    }

    /// What git printed, when it ended with 0.
    pub(super) fn succeed<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Vec<u8>, GitError> {
        let finished = self.finish(args)?;
        if finished.status.success() { Ok(finished.stdout) } else { Err(failed(args, &finished)) }
    }

    /// What git answers by its exit code: true for 0, false for 1.
    pub(super) fn answer<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<bool, GitError> {
        match self.succeed(args) {
            Ok(_) => Ok(true),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// How git ended and what it printed, whatever its exit code.
    pub(super) fn finish<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Finished, GitError> {
        self.finish_within(args, self.idle_deadline)
    }

    /// As [`Git::finish`], for a call that waits for another machine.
    pub(super) fn finish_remote<S: AsRef<OsStr>>(&self, args: &[S]) -> Result<Finished, GitError> {
        self.finish_within(args, self.network_deadline)
    }

    fn finish_within<S: AsRef<OsStr>>(&self, args: &[S], idle: Duration) -> Result<Finished, GitError> {
        let mut command = self.checked_command(args)?;
        let patience = Patience::Progress { idle, most: LONGEST };
        bounded::run_with(&mut command, self.input()?, patience).map_err(|error| not_finished(shown(args), error))
    }

    /// Hands over what git prints as it comes, until its end or until `each` breaks. It has to end with 0.
    pub(super) fn stream<S: AsRef<OsStr>>(
        &self,
        args: &[S],
        each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<(), GitError> {
        let mut command = self.checked_command(args)?;
        let patience = Patience::Progress { idle: self.idle_deadline, most: LONGEST };
        let streamed = bounded::stream(&mut command, self.input()?, patience, each);
        match streamed.map_err(|error| not_finished(shown(args), error))? {
            Streamed::Finished { status, stderr } if !status.success() => {
                Err(failed(args, &Finished { status, stdout: Vec::new(), stderr }))
            }
            Streamed::Finished { .. } | Streamed::Stopped => Ok(()),
        }
    }
}

pub(super) fn shown<S: AsRef<OsStr>>(args: &[S]) -> String {
    let words = args.iter().map(|arg| arg.as_ref().to_string_lossy());
    std::iter::once("git".into()).chain(words).collect::<Vec<_>>().join(" ")
}

pub(super) fn failed<S: AsRef<OsStr>>(args: &[S], finished: &Finished) -> GitError {
    let stderr = String::from_utf8_lossy(&finished.stderr).trim().to_owned();
    GitError::Failed { command: shown(args), code: finished.status.code(), stderr }
}

fn not_finished(command: String, error: RunError) -> GitError {
    match error {
        RunError::Start(error) if error.kind() == io::ErrorKind::NotFound => GitError::Missing,
        RunError::Start(source) | RunError::Wait(source) => GitError::Run { command, source },
        RunError::Idle { idle, .. } => GitError::Deadline { command, deadline: idle },
        RunError::Deadline { deadline, .. } => GitError::Endless { command, limit: deadline },
        RunError::TooLarge { limit } => GitError::TooLarge { command, limit },
    }
}
