//! Running git so that nothing else of ours touches the repository while it runs, also when this process is killed.
//!
//! Invariant: the repository's lock is the child's standard output. The system releases the lock when the last holder
//! has ended, so a recovery, which takes the lock first, never runs beside a git that outlived its parent.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::process::{Child, ChildStderr, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use super::lock::RepositoryLock;
use super::{Git, GitError, alone, shown};
use crate::bounded::{Finished, wait_until};
use crate::process::ProcessIdentity;
use crate::tree::kill_tree;

/// Time to end in order after the deadline; git removes its lock files in it.
const GRACE: Duration = Duration::from_secs(1);
/// Its progress is not watched, so a slow checkout has several times the deadline of a call that makes none.
const PATIENCE: u32 = 6;
/// What git wrote is there when it has ended, unless something that it started keeps the pipe open.
const OUTPUT_PATIENCE: Duration = Duration::from_secs(1);

/// One call of git in a working tree.
pub(super) struct HeldCall<'a> {
    pub top: &'a Path,
    pub words: &'a [&'a str],
    /// The index file that git works on instead of the working tree's own.
    pub index: Option<&'a Path>,
    pub input: Option<File>,
}

impl Git {
    /// Runs git while it holds the lock, and waits for its end. What it prints is not kept.
    pub(super) fn run_held(&self, lock: &RepositoryLock, call: HeldCall<'_>) -> Result<(), GitError> {
        let args = alone(call.top, call.words);
        let finished = self.finish_held(lock, &args, call.index, call.input)?;
        if finished.status.success() { Ok(()) } else { Err(super::failed(&args, &finished)) }
    }

    fn finish_held(
        &self,
        lock: &RepositoryLock,
        args: &[&OsStr],
        index: Option<&Path>,
        input: Option<File>,
    ) -> Result<Finished, GitError> {
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::NotFound => GitError::Missing,
            _ => GitError::Run { command: shown(args), source },
        };
        let mut command = self.command(args);
        if let Some(index) = index {
            command.env("GIT_INDEX_FILE", index);
        }
        command.stdin(input.map_or_else(Stdio::null, Stdio::from));
        command.stdout(lock.share().map_err(failed)?).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        // The command keeps a handle of its own on the lock.
        drop(command);
        let complaints = collect(child.stderr.take());
        let deadline = self.idle_deadline * PATIENCE;
        let waited = wait_until(deadline, || child.try_wait());
        if !matches!(waited, Ok(Some(_))) {
            end(&mut child);
        }
        let stderr = received(complaints);
        match waited.map_err(failed)? {
            Some(status) => Ok(Finished { status, stdout: Vec::new(), stderr }),
            None => Err(GitError::Deadline { command: shown(args), deadline }),
        }
    }
}

fn end(child: &mut Child) {
    if let Some(identity) = ProcessIdentity::of(child.id()) {
        kill_tree(&identity, GRACE);
    }
    let _ = child.try_wait();
}

fn collect(pipe: Option<ChildStderr>) -> JoinHandle<Vec<u8>> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

fn received(reader: JoinHandle<Vec<u8>>) -> Vec<u8> {
    match wait_until(OUTPUT_PATIENCE, || Ok(reader.is_finished().then_some(()))) {
        Ok(Some(())) => reader.join().unwrap_or_default(),
        _ => Vec::new(),
    }
}
