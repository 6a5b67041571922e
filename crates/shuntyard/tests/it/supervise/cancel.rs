//! What is cancelled has ended, and no attempt works beside what an earlier one has left.

use crate::supervise::Yard;
use std::{path::Path, process::Command};

fn is_alive(pid: &str) -> bool {
    let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    state.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn first_line(file: &Path) -> String {
    std::fs::read_to_string(file).unwrap_or_default().lines().next().unwrap_or_default().to_owned()
}

#[test]
fn a_cancelled_task_has_no_process_also_when_its_agent_ignores_being_asked() {
    // The grace is for attempts that took too long: a cancelled one ends without waiting an hour.
    let yard = Yard::with("cancel-stubborn", "grace = \"1h\"\n");
    let trace = yard.env.root.join("trace");
    let command = format!("trap '' TERM INT HUP; echo $$ > {}; while :; do sleep 1; done", trace.display());
    yard.add(&["stubborn", "--id", "stubborn", "--command", &command]);
    yard.pulse_until("it works", || !first_line(&trace).is_empty());
    yard.env.run(&["task", "cancel", "stubborn", "--wait"]).expect_code(0);
    assert!(!is_alive(&first_line(&trace)), "{:#}", yard.task("stubborn"));
    assert_eq!(yard.phase("stubborn"), "cancelled");
}

#[test]
fn an_attempt_begins_when_what_an_earlier_one_left_has_ended() {
    let yard = Yard::new("cancel-leftover");
    let trace = yard.env.root.join("mark");
    let command = format!("echo $SHUNTYARD_WORKER >> {}; exit 1", trace.display());
    yard.add(&["again", "--id", "again", "--command", &command]);
    yard.settle();
    let mut left = Command::new("sleep").arg("300").env("SHUNTYARD_WORKER", first_line(&trace)).spawn().expect("sleep");
    yard.env.run(&["task", "retry", "again"]).expect_code(0);
    yard.settle();
    let ended = !is_alive(&left.id().to_string());
    drop((left.kill(), left.wait()));
    assert!(ended, "it works beside the next attempt");
}
