//! The owner's side of the guard: starting a guarded command and ending it.
//!
//! Invariant: dropping the child, or dying, ends the command and all it started. Each guarded command carries a mark
//! of its own in its environment, so that its processes are found even when the guard is killed.

use std::ffi::OsString;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::bounded::wait_until;
use crate::guard::{DEFAULT_GRACE, guard_arguments};
use crate::process::ProcessIdentity;
use crate::tree::{end_marked, kill_tree};

/// The variable that holds the mark.
pub const GUARD_MARK: &str = "SHUNTYARD_GUARD";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Environment {
    Inherited,
    /// Nothing but the variables given; then the program should be named by its full path.
    Empty,
}

#[derive(Debug)]
pub struct GuardedCommand {
    pub program: OsString,
    pub args: Vec<OsString>,
    pub environment: Environment,
    /// Set on top of the environment.
    pub variables: Vec<(OsString, OsString)>,
    pub directory: Option<PathBuf>,
    pub stdout: Stdio,
    pub stderr: Stdio,
    /// What the guard leaves the command between the request to end and the kill.
    pub grace: Duration,
}

impl GuardedCommand {
    /// Inherits environment and directory, discards its output.
    pub fn new(program: impl Into<OsString>, args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            program: program.into(),
            args: args.into_iter().map(Into::into).collect(),
            environment: Environment::Inherited,
            variables: Vec::new(),
            directory: None,
            stdout: Stdio::null(),
            stderr: Stdio::null(),
            grace: DEFAULT_GRACE,
        }
    }

    /// Starts the guard, which starts the command. `own` is the full path of a program whose `main` calls
    /// [`crate::guard::invoked`]; see [`crate::guard::own_executable`]. That the command itself cannot be started
    /// shows in the exit code, 126 or 127.
    pub fn spawn(self, own: &Path) -> io::Result<GuardedChild> {
        let mark = fresh_mark()?;
        let mut command = Command::new(own);
        if self.environment == Environment::Empty {
            command.env_clear();
        }
        if let Some(directory) = &self.directory {
            command.current_dir(directory);
        }
        // A group of its own: an interrupt from the terminal reaches the owner, who decides what becomes of this.
        let mut child = command
            .arg0("shuntyard")
            .args(guard_arguments(self.grace, &self.program, self.args))
            .envs(self.variables)
            .env(GUARD_MARK, &mark)
            .stdin(Stdio::piped())
            .stdout(self.stdout)
            .stderr(self.stderr)
            .process_group(0)
            .spawn()?;
        let Some(identity) = ProcessIdentity::of(child.id()) else {
            drop(child.stdin.take());
            child.wait()?;
            return Err(io::Error::other("the process table cannot be read"));
        };
        Ok(GuardedChild { child, identity, mark, ended: None })
    }
}

/// A guard and what it guards. Dropping it ends the command without waiting for that.
#[derive(Debug)]
pub struct GuardedChild {
    /// Holds the write end of the guard's stdin, which is the guard's reason to live.
    child: Child,
    identity: ProcessIdentity,
    mark: String,
    ended: Option<ExitStatus>,
}

impl GuardedChild {
    /// The guard's identity; the command and all it starts are below it.
    pub fn identity(&self) -> ProcessIdentity {
        self.identity
    }

    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.child.stdout.take()
    }

    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.child.stderr.take()
    }

    /// How it ended, once the guard has: the exit code is the command's. If the guard was killed, what it guarded is
    /// ended before this returns.
    pub fn try_wait(&mut self) -> io::Result<Option<ExitStatus>> {
        if self.ended.is_none()
            && let Some(status) = self.child.try_wait()?
        {
            self.ended = Some(status);
            if status.signal().is_some() {
                end_marked(GUARD_MARK, &self.mark, Duration::ZERO);
            }
        }
        Ok(self.ended)
    }

    /// Blocks up to `timeout`; `None` when it still runs.
    pub fn wait_timeout(&mut self, timeout: Duration) -> io::Result<Option<ExitStatus>> {
        wait_until(timeout, || self.try_wait())
    }

    /// Lets go of the guard, which then ends everything, and blocks until it has. A guard that is not gone after
    /// `patience`, which should be longer than its grace, is killed with all below it.
    pub fn shutdown(&mut self, patience: Duration) -> io::Result<ExitStatus> {
        drop(self.child.stdin.take());
        if let Some(status) = self.wait_timeout(patience)? {
            return Ok(status);
        }
        let survivors = kill_tree(&self.identity, Duration::ZERO);
        let status = self.wait_timeout(Duration::from_secs(1))?;
        match status {
            Some(status) if survivors.iter().all(|process| !process.is_alive()) => Ok(status),
            _ => Err(io::Error::new(io::ErrorKind::TimedOut, "some of its processes survived being killed")),
        }
    }
}

fn fresh_mark() -> io::Result<String> {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let owner = ProcessIdentity::current()?;
    Ok(format!("{}.{}.{}", owner.pid, owner.start, COUNT.fetch_add(1, Ordering::Relaxed)))
}
