//! The process table of Linux, read from `/proc` without a snapshot library: one small file per process.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::time::Duration;

use super::{Entry, Usage};
use crate::process::ProcessIdentity;

pub(crate) fn scan() -> Vec<Entry> {
    pids().filter_map(entry).collect()
}

pub(crate) fn entry(pid: u32) -> Option<Entry> {
    // A command name may be any bytes, so the line need not be UTF-8.
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&String::from_utf8_lossy(&line), rustix::param::page_size() as u64)
}

pub(crate) fn usage(pid: u32) -> Option<Usage> {
    let line = fs::read(format!("/proc/{pid}/stat")).ok()?;
    let ticks = processor_ticks(&String::from_utf8_lossy(&line))?;
    // Another user's process does not show its transfers.
    let transfers = fs::read_to_string(format!("/proc/{pid}/io")).unwrap_or_default();
    let numbers = transfers.lines().filter_map(|line| line.split_once(": ")?.1.parse::<u64>().ok());
    let transferred = numbers.fold(0, u64::saturating_add);
    let millis = ticks.saturating_mul(1000) / rustix::param::clock_ticks_per_second().max(1);
    Some(Usage { processor: Duration::from_millis(millis), transferred })
}

/// Living processes of this user, other than this one, that were started with `NAME=VALUE` in their environment.
pub(crate) fn marked(name: &str, value: &str) -> Vec<ProcessIdentity> {
    let user = rustix::process::geteuid().as_raw();
    let wanted = format!("{name}={value}");
    let holds = |pid: u32| {
        fs::metadata(format!("/proc/{pid}")).is_ok_and(|process| process.uid() == user)
            && fs::read(format!("/proc/{pid}/environ"))
                .is_ok_and(|block| block.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes()))
    };
    pids()
        .filter(|pid| *pid != std::process::id())
        .filter_map(|pid| {
            let before = ProcessIdentity::of(pid)?;
            // Checked again afterwards: the environment read must be that of the process named.
            (holds(pid) && before.is_alive()).then_some(before)
        })
        .collect()
}

fn pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// In the program and in the kernel, of the process and of the children that it has waited for.
pub(super) fn processor_ticks(line: &str) -> Option<u64> {
    let (_, rest) = line.rsplit_once(") ")?;
    let ticks: Option<Vec<u64>> =
        rest.split_ascii_whitespace().skip(11).take(4).map(|tick| tick.parse().ok()).collect();
    ticks.filter(|ticks| ticks.len() == 4).map(|ticks| ticks.iter().sum())
}

/// The command name is in parentheses and may itself hold spaces and parentheses: the last `)` ends it.
pub(super) fn parse_stat(line: &str, page_size: u64) -> Option<Entry> {
    let (pid, _) = line.split_once(" (")?;
    let (_, rest) = line.rsplit_once(") ")?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    // The manual counts from 1 and the state is its field 3.
    let field = |number: usize| fields.get(number - 3).copied();
    let threads: u64 = field(20)?.parse().ok()?;
    let defunct = match field(3)? {
        // A main thread that ended early looks defunct although its process still works in other threads.
        "Z" => threads <= 1,
        "X" | "x" => true,
        _ => false,
    };
    Some(Entry {
        identity: ProcessIdentity { pid: pid.parse().ok()?, start: field(22)?.parse().ok()? },
        parent: field(4)?.parse().ok()?,
        group: field(5)?.parse().ok()?,
        defunct,
        resident_bytes: field(24)?.parse::<u64>().ok()?.saturating_mul(page_size),
    })
}
