//! Who a process is: its number together with the moment it started.
//!
//! Invariant: an identity never matches another process, also when the number is used again. It is meaningful on one
//! machine until its next boot.

use std::io;

use rustix::process::Pid;
pub use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::table;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub pid: u32,
    /// Clock ticks since boot on Linux, seconds since the epoch elsewhere: only ever compared for equality.
    pub start: u64,
}

impl ProcessIdentity {
    /// Fails only where the process table cannot be read at all, as in a container without `/proc`.
    pub fn current() -> io::Result<Self> {
        Self::of(std::process::id()).ok_or_else(|| io::Error::other("the process table cannot be read"))
    }

    /// The process that has this number now. One that ended and was not yet waited for still has its number.
    pub fn of(pid: u32) -> Option<Self> {
        table::entry(pid).map(|entry| entry.identity)
    }

    /// Whether this very process still runs. One that ended but was not yet waited for does not.
    pub fn is_alive(&self) -> bool {
        table::entry(self.pid).is_some_and(|entry| entry.identity == *self && !entry.defunct)
    }

    /// Sends the signal to this process and to no other; false when it is gone or not ours to signal.
    pub fn signal(&self, signal: Signal) -> bool {
        raw_pid(self.pid).is_some_and(|pid| self.deliver(pid, signal))
    }

    /// The descriptor is opened before the identity is checked, so the number cannot change its owner in between.
    #[cfg(target_os = "linux")]
    fn deliver(&self, pid: Pid, signal: Signal) -> bool {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(descriptor) => self.is_alive() && pidfd_send_signal(descriptor, signal).is_ok(),
            Err(rustix::io::Errno::SRCH) => false,
            // Old kernels and strict sandboxes have no such descriptors: then the check comes as late as it can.
            Err(_) => self.deliver_by_number(pid, signal),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn deliver(&self, pid: Pid, signal: Signal) -> bool {
        self.deliver_by_number(pid, signal)
    }

    fn deliver_by_number(&self, pid: Pid, signal: Signal) -> bool {
        self.is_alive() && rustix::process::kill_process(pid, signal).is_ok()
    }
}

/// Zero and negative numbers mean whole groups to the kernel, so they are never a process here.
pub(crate) fn raw_pid(pid: u32) -> Option<Pid> {
    i32::try_from(pid).ok().filter(|raw| *raw > 0).and_then(Pid::from_raw)
}
