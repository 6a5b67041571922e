//! Running a foreign program to its end, but never beyond the patience for it.
//!
//! Invariant: when [`run`] or [`stream`] returns, the program is not running any more; when it was ended early, neither
//! is anything below it. What is held of its output is bounded, and output is never cut without an error.

mod output;
mod progress;
#[cfg(test)]
mod tests;

use std::io;
use std::ops::ControlFlow;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::process::ProcessIdentity;
use crate::tree::kill_tree;
use output::{Tail, chunks};
use progress::Watch;

/// Bytes of standard output that [`run`] collects; a program that prints more is ended.
pub const MOST_OUTPUT: usize = 64 * 1024 * 1024;

/// Time to end in order after the deadline; git removes its lock files in it.
const GRACE: Duration = Duration::from_secs(1);
/// A program can leave a background process that keeps its output open; what it wrote itself is there by then.
const OUTPUT_PATIENCE: Duration = Duration::from_secs(1);
/// More than a pipe and the queue behind it can hold when the program ends: whatever follows is not the program's own.
const UNREAD_AT_EXIT: usize = 2 * 1024 * 1024;

/// How long a program may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patience {
    /// No longer than this, whatever it does.
    Fixed(Duration),
    /// As long as it makes progress: it is ended after `idle` without any, and after `most` in any case.
    Progress { idle: Duration, most: Duration },
}

impl From<Duration> for Patience {
    fn from(limit: Duration) -> Self {
        Self::Fixed(limit)
    }
}

#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: Vec<u8>,
    /// The last 64 KiB.
    pub stderr: Vec<u8>,
}

/// How a streamed program ended.
#[derive(Debug)]
pub enum Streamed {
    /// The last 64 KiB of its standard error.
    Finished { status: ExitStatus, stderr: Vec<u8> },
    /// The reader had seen enough, so it was ended.
    Stopped,
}

#[derive(Debug, thiserror::Error)]
pub enum RunError {
    #[error("start it")]
    Start(#[source] io::Error),
    #[error("wait for it")]
    Wait(#[source] io::Error),
    #[error("have it finish within {} s", deadline.as_secs_f32())]
    Deadline { deadline: Duration, stderr: Vec<u8> },
    #[error("see progress within {} s", idle.as_secs_f32())]
    Idle { idle: Duration, stderr: Vec<u8> },
    #[error("hold its output: it printed more than {limit} bytes")]
    TooLarge { limit: usize },
}

/// Runs the command with no input and collects its output.
pub fn run(command: &mut Command, patience: impl Into<Patience>) -> Result<Finished, RunError> {
    run_with(command, Stdio::null(), patience)
}

/// As [`run`], with something else as its standard input.
pub fn run_with(command: &mut Command, input: Stdio, patience: impl Into<Patience>) -> Result<Finished, RunError> {
    let mut stdout = Vec::new();
    let mut collect = |chunk: &[u8]| {
        if stdout.len() + chunk.len() > MOST_OUTPUT {
            return ControlFlow::Break(());
        }
        stdout.extend_from_slice(chunk);
        ControlFlow::Continue(())
    };
    match stream(command, input, patience, &mut collect)? {
        Streamed::Finished { status, stderr } => Ok(Finished { status, stdout, stderr }),
        Streamed::Stopped => Err(RunError::TooLarge { limit: MOST_OUTPUT }),
    }
}

/// Runs the command and hands over its standard output as it comes. A slow reader slows the program down.
pub fn stream(
    command: &mut Command,
    input: Stdio,
    patience: impl Into<Patience>,
    each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> Result<Streamed, RunError> {
    let command = command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().map_err(RunError::Start)?;
    let stdout = chunks(child.stdout.take());
    let stderr = Tail::read(child.stderr.take());
    let watch = Watch::new(child.id(), patience.into());
    let ended = follow(&mut child, &stdout, &stderr, watch, each);
    let Ok(End::Exited(status)) = ended else {
        if let Some(identity) = ProcessIdentity::of(child.id()) {
            kill_tree(&identity, GRACE);
        }
        // Collects the killed child; one that even survived that is left to the system.
        let _ = child.try_wait();
        return match ended {
            Err(error) => Err(RunError::Wait(error)),
            Ok(End::TooLong(deadline)) => Err(RunError::Deadline { deadline, stderr: stderr.finish() }),
            Ok(End::Idle(idle)) => Err(RunError::Idle { idle, stderr: stderr.finish() }),
            Ok(End::Stopped | End::Exited(_)) => Ok(Streamed::Stopped),
        };
    };
    Ok(Streamed::Finished { status, stderr: stderr.finish() })
}

/// Why a program is not followed any longer.
#[derive(Debug)]
enum End {
    Exited(ExitStatus),
    Stopped,
    TooLong(Duration),
    Idle(Duration),
}

fn follow(
    child: &mut Child,
    stdout: &Receiver<Vec<u8>>,
    stderr: &Tail,
    mut watch: Watch,
    each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>,
) -> io::Result<End> {
    let mut step = Duration::from_millis(1);
    let mut received = 0_u64;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(drain(stdout, each).map_or(End::Stopped, |()| End::Exited(status)));
        }
        match stdout.recv_timeout(step) {
            Ok(chunk) => {
                received += chunk.len() as u64;
                step = Duration::from_millis(1);
                if each(&chunk).is_break() {
                    return Ok(End::Stopped);
                }
            }
            Err(RecvTimeoutError::Timeout) => step = longer(step),
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(step);
                step = longer(step);
            }
        }
        if let Some(end) = watch.look(received + stderr.received()) {
            return Ok(end);
        }
    }
}

/// Reads what the ended program still had in its pipe; `None` when the reader stops it.
fn drain(stdout: &Receiver<Vec<u8>>, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Option<()> {
    let mut received = 0;
    while let Ok(chunk) = stdout.recv_timeout(OUTPUT_PATIENCE) {
        received += chunk.len();
        if each(&chunk).is_break() {
            return None;
        }
        if received > UNREAD_AT_EXIT {
            break;
        }
    }
    Some(())
}

fn longer(step: Duration) -> Duration {
    (step * 2).min(Duration::from_millis(20))
}

/// Asks again and again, in growing steps, until there is an answer or the time is over.
pub fn wait_until<T>(timeout: Duration, mut ask: impl FnMut() -> io::Result<Option<T>>) -> io::Result<Option<T>> {
    let started = Instant::now();
    let mut step = Duration::from_millis(1);
    loop {
        if let Some(answer) = ask()? {
            return Ok(Some(answer));
        }
        let Some(left) = timeout.checked_sub(started.elapsed()).filter(|left| !left.is_zero()) else {
            return Ok(None);
        };
        std::thread::sleep(step.min(left));
        step = longer(step);
    }
}

/// Makes an executable script by way of another process: had this one the file open for writing, a child that another
/// test starts at that moment would hold it open too, and the system refuses to run a file that is being written.
#[cfg(test)]
pub(crate) fn install_script(path: &std::path::Path, text: &str) {
    let draft = path.with_extension("draft");
    std::fs::write(&draft, text).unwrap();
    assert!(Command::new("install").args(["-m", "755"]).args([&draft, path]).status().unwrap().success());
}
