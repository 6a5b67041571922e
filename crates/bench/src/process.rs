//! Processes that a measurement starts or reads: ended by their id, read from the process table of Linux.

use std::{
    process::{Child, Command, Stdio},
    time::Duration,
};

/// Clock ticks in a second, as every Linux that runs Rust counts them for programs.
const TICKS: f64 = 100.0;

/// A process that ends with this value, also when the measurement stops half-way.
#[derive(Debug)]
pub struct Running {
    child: Child,
}

impl Running {
    /// Its output is discarded: a full pipe that is not read would block it.
    pub fn start(command: &mut Command) -> Self {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        Self { child: child.expect("it starts") }
    }

    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// How it ended, if it has.
    pub fn ended(&mut self) -> Option<bool> {
        self.child.try_wait().expect("it can be waited for").map(|status| status.success())
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended by itself cannot be ended again, and need not be.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A size from `/proc/ID/status` in megabytes: `VmRSS` now, `VmHWM` at its highest.
pub fn status_megabytes(id: u32, field: &str) -> Option<f64> {
    megabytes(&std::fs::read_to_string(format!("/proc/{id}/status")).ok()?, field)
}

/// The resident memory; shared memory is divided among the processes that share it.
pub fn proportional_megabytes(id: u32) -> Option<f64> {
    megabytes(&std::fs::read_to_string(format!("/proc/{id}/smaps_rollup")).ok()?, "Pss")
}

fn megabytes(text: &str, field: &str) -> Option<f64> {
    let line = text.lines().find_map(|line| line.strip_prefix(field)?.strip_prefix(':'))?;
    line.trim().trim_end_matches("kB").trim().parse::<f64>().ok().map(|kilobytes| kilobytes / 1024.0)
}

/// The processor time of a process, and of those of its children that it has waited for.
pub fn processor_time(id: u32) -> Option<Duration> {
    let [user, system, child_user, child_system] = times(&format!("/proc/{id}/stat"))?;
    Some(seconds(user + system + child_user + child_system))
}

/// The same of a process and all below it.
pub fn processor_time_of_tree(root: u32) -> Duration {
    let parents: Vec<(u32, u32)> = std::fs::read_dir("/proc")
        .expect("a process table")
        .flatten()
        .filter_map(|entry| {
            let id: u32 = entry.file_name().to_str()?.parse().ok()?;
            let text = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            Some((id, text.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()?))
        })
        .collect();
    let mut tree = vec![root];
    let mut seen = 0;
    while let Some(parent) = tree.get(seen).copied() {
        tree.extend(parents.iter().filter(|(_, of)| *of == parent).map(|(id, _)| *id));
        seen += 1;
    }
    tree.into_iter().filter_map(processor_time).sum()
}

/// The processor time of all children that this process has waited for.
pub fn processor_time_of_ended() -> Duration {
    let [_, _, user, system] = times("/proc/self/stat").expect("a process table");
    seconds(user + system)
}

fn seconds(ticks: f64) -> Duration {
    Duration::from_secs_f64(ticks / TICKS)
}

fn times(file: &str) -> Option<[f64; 4]> {
    let text = std::fs::read_to_string(file).ok()?;
    // The name of the program may have anything in it; the fields are counted from behind it.
    let mut fields = text.rsplit_once(')')?.1.split_whitespace().skip(11);
    let mut next = || fields.next()?.parse().ok();
    Some([next()?, next()?, next()?, next()?])
}
