//! The last step before the command: a process that ties its life to the guard's and then becomes the command.
//!
//! Invariant: there is no moment in which the guard can die and the command lives on (on Linux; elsewhere the owner
//! finds the command by the mark in its environment).

use std::ffi::OsString;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Replaces this process by the command; returns only when that failed.
pub fn run_guard_exec(parent: u32, command: &OsString, args: Vec<OsString>) -> io::Error {
    match tie_to(parent) {
        // The request outlives the replacement, as long as the command is not one that changes its user.
        Ok(()) => Command::new(command).args(args).exec(),
        Err(error) => error,
    }
}

fn tie_to(parent: u32) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    // A guard that died before the request would never be noticed.
    if std::os::unix::process::parent_id() == parent { Ok(()) } else { Err(io::Error::other("the guard is gone")) }
}
