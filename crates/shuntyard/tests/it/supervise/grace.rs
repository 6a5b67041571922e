//! A command that takes too long is asked to end before it is killed, and one that is cancelled ends soon.

use crate::supervise::Yard;
use shuntyard_testkit::eventually;
use std::time::Duration;

/// Longer than what is left of a command that ended by itself, or was cancelled, gets.
const SAVES: &str = "trap 'sleep 5; echo saved > PLACE; exit 0' TERM; while :; do sleep 0.1; done";
/// Ends its deadline without having ended.
const STUBBORN: &str = "trap '' TERM; echo $$ > PLACE; while :; do sleep 0.1; done";
/// Also on a busy machine, a shell has begun by then.
const DEADLINE: &str = "deadline = \"15s\"";

fn command(yard: &Yard, script: &str, place: &str) -> String {
    script.replace("PLACE", &yard.env.root.join(place).display().to_string())
}

fn text(yard: &Yard, place: &str) -> String {
    std::fs::read_to_string(yard.env.root.join(place)).unwrap_or_default()
}

#[test]
fn what_takes_too_long_may_save_its_work_within_the_grace() {
    let yard = Yard::with("grace", &format!("{DEADLINE}\ngrace = \"10m\"\nreinforcements = 0\nrises = 0\n"));
    yard.add(&["--command", &command(&yard, SAVES, "guarded")]);
    yard.add(&["--in-place", "--command", &command(&yard, SAVES, "own")]);
    yard.settle();
    assert_eq!((text(&yard, "guarded"), text(&yard, "own")), ("saved\n".into(), "saved\n".into()));
}

#[test]
fn what_does_not_end_within_the_grace_is_killed() {
    let yard = Yard::with("graceless", &format!("{DEADLINE}\ngrace = \"1s\"\nreinforcements = 0\nrises = 0\n"));
    let ids = [
        yard.add(&["--command", &command(&yard, STUBBORN, "guarded")]),
        yard.add(&["--in-place", "--command", &command(&yard, STUBBORN, "own")]),
    ];
    yard.settle();
    for id in ids {
        let task = yard.task(&id);
        assert!(task["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{task:#}");
    }
    for place in ["guarded", "own"] {
        let pid = text(&yard, place);
        assert!(!pid.is_empty() && !std::path::Path::new(&format!("/proc/{}", pid.trim())).exists(), "{place}: {pid}");
    }
}

#[test]
fn what_is_cancelled_within_its_grace_does_not_get_the_rest_of_it() {
    let yard = Yard::with("grace-cancelled", &format!("{DEADLINE}\ngrace = \"1h\"\nreinforcements = 0\nrises = 0\n"));
    // It writes a file when it was asked to end, and goes on.
    let script = "trap 'echo asked > PLACE' TERM; while :; do sleep 0.1; done";
    let mut supervisor = yard.env.spawn(&["supervise"]);
    let ids = [
        yard.add(&["--command", &command(&yard, script, "guarded")]),
        yard.add(&["--in-place", "--command", &command(&yard, script, "own")]),
    ];
    for (id, place) in ids.iter().zip(["guarded", "own"]) {
        eventually("it is asked to end", Duration::from_secs(60), || text(&yard, place) == "asked\n");
        yard.env.run(&["task", "cancel", id, "--wait"]).expect_code(0);
        assert_eq!(yard.phase(id), "cancelled");
    }
    supervisor.kill().expect("killed");
    supervisor.wait().expect("waited for");
}
