//! Orphans: processes whose parent died, and how this process adopts and ends them.
//!
//! Invariant: only direct children of this process are swept, so nothing that others started can be hit.

use std::io;
use std::time::Duration;

use rustix::process::{WaitOptions, waitpid};

use crate::process::{ProcessIdentity, raw_pid};
use crate::table;
use crate::tree::Hunt;

/// From now on, a process whose parents die becomes a child of this process instead of the system's first one.
/// Systems other than Linux have no such thing; there it does nothing.
pub fn become_subreaper() -> io::Result<()> {
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    Ok(())
}

/// Kills and collects every child of this process, with all below it, that is not in `except`; returns the survivors.
///
/// `except` must name every child that this process started itself and has not waited for: a child that is swept
/// can no longer be waited for by the code that started it. No thread may start children meanwhile.
pub fn sweep_children(except: &[u32]) -> Vec<ProcessIdentity> {
    let own = std::process::id();
    let adopted = || {
        let children = table::scan().into_iter().filter(|entry| entry.parent == own);
        children.map(|entry| entry.identity).filter(|child| !except.contains(&child.pid)).collect::<Vec<_>>()
    };
    let mut survivors = Vec::new();
    // The end of an adopted process hands its own children to us, so one pass is not enough.
    for _ in 0..8 {
        let children = adopted();
        if children.is_empty() {
            break;
        }
        survivors = Hunt::of(children.iter().copied()).end(Duration::ZERO, &mut std::thread::sleep);
        for child in children {
            // One that survived stays a child and is met again in the next round.
            let _ = raw_pid(child.pid).map(|pid| waitpid(Some(pid), WaitOptions::NOHANG));
        }
    }
    survivors
}
