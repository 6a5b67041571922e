//! One reading of the operating system's process table, the same shape on every system.
//!
//! Invariant: nothing here is cached; an entry is what the system reported when it was asked.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
mod portable;
#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
pub(crate) use linux::{entry, marked, scan, usage};
#[cfg(not(target_os = "linux"))]
pub(crate) use portable::{entry, marked, scan, usage};

use std::time::Duration;

use crate::process::ProcessIdentity;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) identity: ProcessIdentity,
    pub(crate) parent: u32,
    pub(crate) group: u32,
    /// Ended, but its parent has not waited for it: it has a number and nothing else.
    pub(crate) defunct: bool,
    pub(crate) resident_bytes: u64,
}

/// What a process has used since it began.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Usage {
    /// On Linux with that of the children that it has waited for.
    pub(crate) processor: Duration,
    /// Bytes that it read and wrote; 0 where the system does not report it.
    pub(crate) transferred: u64,
}
