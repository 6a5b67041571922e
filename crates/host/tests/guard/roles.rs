//! What this binary can be besides the guard and the tests: an owner that is going to be killed, and a sweeper.

use std::ffi::OsString;
use std::time::Duration;

use shuntyard_host::orphan::{become_subreaper, sweep_children};
use shuntyard_host::tree::descendants;
use shuntyard_host::{GuardedCommand, ProcessIdentity, Signal};

use crate::scene::until;

pub fn played(args: &[OsString]) -> Option<i32> {
    let script = args.get(1)?.to_str()?;
    match args.first()?.to_str()? {
        "role-owner" => Some(own(script)),
        "role-sweeper" => Some(sweep(script)),
        "role-detached" => Some(detach()),
        _ => None,
    }
}

/// Owns a guarded shell until it is killed itself; its end by time only matters when a test is broken.
fn own(script: &str) -> i32 {
    let mut child = GuardedCommand::new("sh", ["-c", script]).spawn(&std::env::current_exe().unwrap()).unwrap();
    child.wait_timeout(Duration::from_secs(60)).unwrap();
    3
}

/// Adopts what a killed guard leaves behind and sweeps it, but spares a child of its own. Exits with 0 when exactly
/// that happened.
fn sweep(script: &str) -> i32 {
    become_subreaper().unwrap();
    let mut spared = std::process::Command::new("sleep").arg("300").spawn().unwrap();
    let guarded = GuardedCommand::new("sh", ["-c", script]).spawn(&std::env::current_exe().unwrap()).unwrap();
    let below = || descendants(guarded.identity().pid);
    let tree = until("the tree", || Some(below()).filter(|tree| tree.len() == 3));
    assert!(guarded.identity().signal(Signal::KILL));
    until("the adoption", || (descendants(std::process::id()).len() == 3).then_some(()));

    let survivors = sweep_children(&[spared.id()]);
    let alive = tree.iter().filter(|process| process.is_alive()).count();
    let left = descendants(std::process::id());
    let right = survivors.is_empty() && alive == 0 && left == [ProcessIdentity::of(spared.id()).unwrap()];
    spared.kill().unwrap();
    spared.wait().unwrap();
    i32::from(!right)
}

/// Exits with 0 when it leads a session of its own, which it did not before.
fn detach() -> i32 {
    let leads = || session() == std::process::id().to_string();
    let before = leads();
    shuntyard_host::detached::detach_self().unwrap();
    shuntyard_host::detached::detach_self().expect("a second time does no harm");
    i32::from(before || !leads())
}

/// Zero when the session was started outside of this container, which rustix's `getsid` takes for impossible.
fn session() -> String {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap();
    let (_, fields) = status.rsplit_once(')').unwrap();
    fields.split_whitespace().nth(3).unwrap().to_string()
}
