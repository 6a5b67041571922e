//! Identities, trees and detached starts, with real processes that all carry one mark and are ended with the test.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use shuntyard_host::detached::spawn_detached;
use shuntyard_host::tree::{descendants, end_marked, kill_tree, marked, resident_bytes};
use shuntyard_host::{ProcessIdentity, Signal};

const MARK: &str = "SHUNTYARD_PROCESSES_TEST";

struct Family {
    name: String,
    root: Child,
}

impl Family {
    fn start(name: &str, script: &str) -> Self {
        let name = format!("{name}-{}", std::process::id());
        let mut command = Command::new("sh");
        command.args(["-c", script]).env(MARK, &name).stdin(Stdio::null());
        Self { root: command.spawn().unwrap(), name }
    }

    fn identity(&self) -> ProcessIdentity {
        ProcessIdentity::of(self.root.id()).unwrap()
    }

    fn members(&self) -> Vec<ProcessIdentity> {
        marked(MARK, &self.name)
    }

    fn await_members(&self, count: usize) -> Vec<ProcessIdentity> {
        until(&format!("{count} members"), || Some(self.members()).filter(|members| members.len() == count))
    }
}

impl Drop for Family {
    fn drop(&mut self) {
        end_marked(MARK, &self.name, Duration::ZERO);
        let _ = self.root.wait();
    }
}

fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let started = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(started.elapsed() < Duration::from_secs(80), "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn an_identity_refuses_another_process_with_its_number() {
    let family = Family::start("foreign", "exec sleep 300");
    let real = family.identity();
    let former = ProcessIdentity { start: real.start - 1, ..real };
    assert!(!former.is_alive());
    assert!(!former.signal(Signal::KILL));
    assert_eq!(kill_tree(&former, Duration::ZERO), []);
    assert!(real.is_alive());
    for pid in [0, u32::MAX, i32::MAX as u32] {
        assert_eq!(ProcessIdentity::of(pid), None);
        assert!(!ProcessIdentity { pid, start: 0 }.signal(Signal::KILL));
    }
    assert!(real.signal(Signal::KILL));
    until("its end", || (!real.is_alive()).then_some(()));
    // Not waited for yet: the number is still taken, but no process runs there.
    assert_eq!(ProcessIdentity::of(real.pid), Some(real));
    assert!(!real.signal(Signal::KILL));
}

#[test]
fn this_process_knows_itself() {
    let own = ProcessIdentity::current().unwrap();
    assert_eq!(own.pid, std::process::id());
    assert!(own.is_alive());
    assert_eq!(ProcessIdentity::of(own.pid), Some(own));
}

#[test]
fn a_tree_is_found_and_weighed() {
    let family = Family::start("weigh", "sh -c 'sleep 300 & wait' & sleep 300 & wait");
    let members = family.await_members(4);
    let mut below = descendants(family.root.id());
    below.push(family.identity());
    below.sort();
    let mut expected = members.clone();
    expected.sort();
    assert_eq!(below, expected);
    let whole = resident_bytes(&[family.root.id()]);
    assert!(whole > 1_000_000, "{whole}");
    let twice: Vec<u32> = members.iter().map(|member| member.pid).collect();
    assert!(resident_bytes(&twice) < 2 * whole, "a process counts once");
    assert_eq!(resident_bytes(&[]), 0);
}

#[test]
fn the_polite_end_without_a_kill() {
    let mut family = Family::start("polite", "sleep 300 & sleep 300 & wait");
    family.await_members(3);
    // No call waits for a grace that is not needed: this one would be.
    assert_eq!(kill_tree(&family.identity(), Duration::from_secs(3600)), []);
    assert_eq!(family.members(), []);
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(family.root.wait().unwrap().signal(), Some(15));
}

#[test]
fn the_deaf_are_killed_and_their_late_children_too() {
    // Each child that ends is replaced: the tree grows while it is being ended.
    let script =
        "trap '' TERM; (while :; do sh -c 'sleep 300' ; done) & setsid sleep 300 & while :; do sleep 300; done";
    let mut family = Family::start("deaf", script);
    until("the whole family", || (family.members().len() >= 4).then_some(()));
    assert_eq!(kill_tree(&family.identity(), Duration::from_millis(200)), []);
    assert_eq!(family.members(), []);
    use std::os::unix::process::ExitStatusExt;
    assert_eq!(family.root.wait().unwrap().signal(), Some(9));
}

#[test]
fn children_are_followed_when_their_parent_dies_first() {
    // The child ignores the signal, the parent handles it again.
    let family = Family::start("outlive", "trap '' TERM; sleep 300 & trap - TERM; exec sleep 300");
    family.await_members(2);
    let (grace, started) = (Duration::from_millis(200), Instant::now());
    assert_eq!(kill_tree(&family.identity(), grace), []);
    assert!(started.elapsed() >= grace);
    assert_eq!(family.members(), []);
}

#[test]
fn marked_leftovers_are_ended_wherever_they_hang() {
    let mut family = Family::start("mark", "setsid sleep 300 & setsid sleep 300 & exit 0");
    family.root.wait().unwrap();
    family.await_members(2);
    assert_eq!(end_marked(MARK, "somebody else", Duration::ZERO), []);
    family.await_members(2);
    assert_eq!(end_marked(MARK, &family.name, Duration::from_secs(5)), []);
    assert_eq!(family.members(), []);
}

#[test]
fn a_detached_program_writes_to_its_private_log() {
    use std::os::unix::fs::PermissionsExt;
    let directory = shuntyard_testkit::Scratch::of_test();
    let log = directory.path().join("log");
    std::fs::write(&log, "before\n").unwrap();
    let variables = [("GREETING", "hello"), ("PATH", "/usr/bin:/bin")];
    let script = ["-c", "cat; echo $GREETING; echo problem >&2"];
    let mut child = spawn_detached("/bin/sh".as_ref(), script, variables, "/".as_ref(), &log).unwrap();
    assert!(child.wait().unwrap().success());
    assert_eq!(std::fs::read_to_string(&log).unwrap(), "before\nhello\nproblem\n");
    assert_eq!(std::fs::metadata(&log).unwrap().permissions().mode() & 0o777, 0o600);
}
