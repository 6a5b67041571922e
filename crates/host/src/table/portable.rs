//! The process table of the other systems, by way of sysinfo. Start times have a resolution of one second there.

use std::time::Duration;

use sysinfo::{Pid, Process, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use super::{Entry, Usage};
use crate::process::{ProcessIdentity, raw_pid};

pub(crate) fn scan() -> Vec<Entry> {
    let system = read(ProcessesToUpdate::All, ProcessRefreshKind::nothing().with_memory());
    system.iter().flat_map(|system| system.processes().values()).map(describe).collect()
}

pub(crate) fn entry(pid: u32) -> Option<Entry> {
    let wanted = Pid::from_u32(pid);
    let system = read(ProcessesToUpdate::Some(&[wanted]), ProcessRefreshKind::nothing().with_memory())?;
    system.process(wanted).map(describe)
}

pub(crate) fn usage(pid: u32) -> Option<Usage> {
    let wanted = Pid::from_u32(pid);
    let what = ProcessRefreshKind::nothing().with_cpu().with_disk_usage();
    let system = read(ProcessesToUpdate::Some(&[wanted]), what)?;
    let process = system.process(wanted)?;
    let disk = process.disk_usage();
    let transferred = disk.total_read_bytes.saturating_add(disk.total_written_bytes);
    Some(Usage { processor: Duration::from_millis(process.accumulated_cpu_time()), transferred })
}

/// Living processes of this user, other than this one, that were started with `NAME=VALUE` in their environment.
pub(crate) fn marked(name: &str, value: &str) -> Vec<ProcessIdentity> {
    let wanted = std::ffi::OsString::from(format!("{name}={value}"));
    let what = ProcessRefreshKind::nothing().with_environ(UpdateKind::Always).with_user(UpdateKind::Always);
    let system = read(ProcessesToUpdate::All, what);
    let user = rustix::process::geteuid().as_raw();
    let processes = system.iter().flat_map(|system| system.processes().values());
    processes
        .filter(|process| process.pid().as_u32() != std::process::id())
        .filter(|process| process.effective_user_id().or(process.user_id()).is_some_and(|owner| **owner == user))
        .filter(|process| process.environ().contains(&wanted))
        .map(describe)
        .filter(|entry| !entry.defunct)
        .map(|entry| entry.identity)
        .collect()
}

fn read(which: ProcessesToUpdate<'_>, what: ProcessRefreshKind) -> Option<System> {
    let mut system = System::new().ok()?;
    system.refresh_processes_specifics(which, true, what.without_tasks());
    Some(system)
}

fn describe(process: &Process) -> Entry {
    let pid = process.pid().as_u32();
    // The kernel's own processes have neither session nor group, and rustix takes a group of zero for impossible.
    let in_session = process.session_id().is_some_and(|session| session.as_u32() > 0);
    let group = raw_pid(pid).filter(|_| in_session).and_then(|raw| rustix::process::getpgid(Some(raw)).ok());
    Entry {
        identity: ProcessIdentity { pid, start: process.start_time() },
        parent: process.parent().map_or(0, Pid::as_u32),
        group: group.and_then(|group| u32::try_from(group.as_raw_nonzero().get()).ok()).unwrap_or(0),
        defunct: matches!(process.status(), ProcessStatus::Zombie | ProcessStatus::Dead),
        resident_bytes: process.memory(),
    }
}
