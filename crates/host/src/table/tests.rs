//! The table against this very process and a few of its children.

use std::process::{Child, Command, Stdio};

use super::{Entry, portable};

/// Ends its process however the test ends.
struct Sleeper(Child);

impl Sleeper {
    fn start(mark: &str) -> Self {
        let mut command = Command::new("sleep");
        Self(command.arg("300").env("SHUNTYARD_TABLE", mark).stdin(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _gone_already = self.0.kill();
        let _ = self.0.wait();
    }
}

fn check(entry: fn(u32) -> Option<Entry>, scan: fn() -> Vec<Entry>) {
    let mut child = Sleeper::start("unmarked");
    let pid = child.0.id();
    let seen = entry(pid).unwrap();
    assert_eq!((seen.identity.pid, seen.parent, seen.defunct), (pid, std::process::id(), false));
    assert_eq!(seen.group, entry(std::process::id()).unwrap().group);
    assert!(entry(std::process::id()).unwrap().resident_bytes > 100_000);
    assert!(scan().iter().any(|other| (other.identity, other.parent) == (seen.identity, seen.parent)));

    child.0.kill().unwrap();
    let ended = std::time::Instant::now();
    while !entry(pid).unwrap().defunct {
        assert!(ended.elapsed().as_secs() < 80, "a killed process stayed alive");
        std::thread::yield_now();
    }
    child.0.wait().unwrap();
    assert_eq!(entry(pid), None);
}

#[test]
fn native_table_describes_a_child_from_start_to_end() {
    check(super::entry, super::scan);
}

#[test]
fn portable_table_describes_a_child_from_start_to_end() {
    check(portable::entry, portable::scan);
}

#[test]
fn both_tables_find_a_process_by_its_environment() {
    let mark = format!("table-{}", std::process::id());
    let child = Sleeper::start(&mark);
    for find in [super::marked, portable::marked] {
        let pids = |value: &str| find("SHUNTYARD_TABLE", value).iter().map(|found| found.pid).collect::<Vec<_>>();
        assert_eq!(pids(&mark), [child.0.id()]);
        assert!(pids(&mark[1..]).is_empty() && pids(&format!("{mark}0")).is_empty());
    }
}

#[cfg(target_os = "linux")]
#[test]
fn stat_lines_with_hostile_names_are_read() {
    use super::linux::parse_stat;
    let line = |name: &str, state: &str, threads: u32| {
        format!("42 ({name}) {state} 7 40 40 0 -1 4194560 1 0 0 0 1 2 0 0 20 0 {threads} 0 9876 1000 25 184467 1 1 0\n")
    };
    for name in ["sleep", "a b", ") R 1 1 (", "x) S 9 9 9", ""] {
        let entry = parse_stat(&line(name, "S", 1), 4096).unwrap();
        let identity = crate::process::ProcessIdentity { pid: 42, start: 9876 };
        assert_eq!(entry, Entry { identity, parent: 7, group: 40, defunct: false, resident_bytes: 25 * 4096 });
    }
    let defunct = |state, threads| parse_stat(&line("x", state, threads), 4096).unwrap().defunct;
    assert_eq!([("Z", 1), ("X", 1), ("Z", 3), ("D", 1)].map(|(s, t)| defunct(s, t)), [true, true, false, false]);
    for broken in ["", "42", "42 (x", "42 (x) S 7", "x (y) S 7 40 40"] {
        assert_eq!(parse_stat(broken, 4096), None);
    }
}

#[test]
fn what_this_process_uses_grows() {
    for usage in [super::usage, portable::usage] {
        let before = usage(std::process::id()).unwrap();
        let started = std::time::Instant::now();
        while usage(std::process::id()).unwrap().processor <= before.processor {
            assert!(started.elapsed().as_secs() < 80, "the processor time stayed at {before:?}");
        }
        assert_eq!(usage(u32::MAX - 1), None);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn transfers_and_processor_time_are_read_from_proc() {
    use super::linux::processor_ticks;
    let line = "42 (a) b) S 7 40 40 0 -1 4194560 1 0 0 0 1 2 3 4 20 0 1 0 9876 1000 25 184467 1 1 0\n";
    assert_eq!(processor_ticks(line), Some(10));
    assert_eq!(processor_ticks("42 (x) S 7"), None);
    let before = super::usage(std::process::id()).unwrap().transferred;
    std::fs::read("/proc/self/status").unwrap();
    assert!(super::usage(std::process::id()).unwrap().transferred > before);
}
