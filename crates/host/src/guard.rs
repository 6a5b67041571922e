//! The guard: a tiny process between an owner and a command, so that the command never outlives its owner.
//!
//! Invariant: when the guard is gone, so is everything the command started. The owner holds the other end of the
//! guard's stdin, and the system closes it even when the owner is killed; where the guard itself is killed, the
//! system kills the command. The guard has one thread, because that second promise is tied to the thread that spawns.

mod alarms;
mod call;
mod exec;

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{WaitOptions, WaitStatus, wait};

use crate::orphan::become_subreaper;
use crate::process::ProcessIdentity;
use crate::tree::Hunt;
use alarms::{Alarms, Waking};
pub use call::{DEFAULT_GRACE, guard_arguments, invoked};
pub use exec::run_guard_exec;

/// Beyond this the kernel is stuck with a killed process, and waiting for it would only hold up the owner.
const LAST_PATIENCE: Duration = Duration::from_secs(10);
const TICK: Duration = Duration::from_millis(20);

#[derive(Debug, thiserror::Error)]
pub enum GuardError {
    #[error("the guard was called in a way it does not know: {0}")]
    Call(&'static str),
    #[error("prepare the guard")]
    Prepare(#[source] io::Error),
    #[error("start {}", command.display())]
    Start { command: OsString, source: io::Error },
}

impl GuardError {
    /// What a shell would exit with in the same place.
    pub fn exit_code(&self) -> i32 {
        match self {
            Self::Call(_) => 2,
            Self::Prepare(_) => 125,
            Self::Start { source, .. } if source.kind() == io::ErrorKind::NotFound => 127,
            Self::Start { .. } => 126,
        }
    }
}

/// The program that this process runs, for starting it again. On Linux it stays valid while the file is replaced by
/// a newer version, and is then still the version that is running.
pub fn own_executable() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() }
}

/// Runs the command until it ends, the owner closes our stdin or we are asked to stop; then ends all it started.
/// Returns the command's exit code, 128 + N when signal N ended it. To be called from the main thread of a process
/// that does nothing else.
pub fn run_guard(own: &Path, grace: Duration, command: OsString, args: Vec<OsString>) -> Result<i32, GuardError> {
    become_subreaper().map_err(GuardError::Prepare)?;
    let identity = ProcessIdentity::current().map_err(GuardError::Prepare)?;
    let mut alarms = Alarms::listen().map_err(GuardError::Prepare)?;
    // The child becomes the command by replacing itself, after it has tied its life to ours.
    let child = Command::new(own)
        .arg0("shuntyard")
        .args(call::exec_arguments(identity.pid, &command, args))
        .stdin(Stdio::null())
        .process_group(0)
        .spawn()
        .map_err(|source| GuardError::Start { command, source })?;
    let mut ward = Ward { pid: child.id(), code: None };

    // An alarm that cannot be read is taken for the owner's end: then nothing may be left behind.
    while ward.code.is_none() && matches!(alarms.wait(None), Ok(Waking::Look)) {
        ward.collect();
    }
    let mut hunt = Hunt::below(identity, ward.pid);
    // What a command that has ended by itself leaves behind has nothing to save.
    let mut grace = if ward.code.is_some() { grace.min(DEFAULT_GRACE) } else { grace };
    let give_up = Instant::now() + grace + LAST_PATIENCE;
    loop {
        hunt.end(grace, &mut |pause| {
            alarms.wait_for_children(pause);
            ward.collect();
        });
        // A child can be adopted after the last read of the process table; only this answer is final.
        if ward.collect() == Children::None || Instant::now() >= give_up {
            return Ok(ward.code.unwrap_or(128 + crate::process::Signal::KILL.as_raw()));
        }
        grace = Duration::ZERO;
        alarms.wait_for_children(TICK);
    }
}

/// The command that is guarded, and what became of it.
struct Ward {
    pid: u32,
    code: Option<i32>,
}

#[derive(PartialEq, Eq)]
enum Children {
    Some,
    None,
}

impl Ward {
    /// Waits for all children that have ended, the adopted ones too, so that none stays defunct.
    fn collect(&mut self) -> Children {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if u32::try_from(pid.as_raw_nonzero().get()) == Ok(self.pid) => {
                    self.code = exit_code(status).or(self.code);
                }
                Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
                Ok(None) => return Children::Some,
                Err(_) => return Children::None,
            }
        }
    }
}

fn exit_code(status: WaitStatus) -> Option<i32> {
    status.exit_status().or_else(|| status.terminating_signal().map(|signal| 128 + signal))
}
