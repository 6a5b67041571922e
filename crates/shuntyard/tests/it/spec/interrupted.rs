//! Ctrl-C in the middle: the message names what goes on and how to resume it, and the next run finishes it.

use super::{RUN, TASK, carried_out, ground, outcomes, plan_one, run, task, write};
use shuntyard_scripted::Gate;
use shuntyard_testkit::{environment::finish, eventually};
use std::{
    os::unix::process::CommandExt as _,
    process::{Command, Stdio},
    time::Duration,
};

#[test]
fn a_run_that_was_interrupted_says_how_to_go_on_and_is_finished_by_the_next() {
    let env = ground("spec-interrupted");
    let gate = Gate::default();
    let steps = carried_out(TASK, write("a.txt", "a\n").at(&gate));
    let key = plan_one(&env, steps);
    // A terminal signals its whole process group, so a process that has to go on must not have stayed in that group.
    let mut command = env.command(&[&RUN[..], &["--json"]].concat());
    command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().expect("the binary starts");
    env.provider.wait_for_requests(&key, 1);
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-INT", "--", &group]).status().expect("kill runs").success());
    let ended = finish(child);
    ended.expect_code(1).expect_class("cancelled");
    let error = &ended.json()["error"];
    assert!(error["message"].as_str().expect("text").contains("what is at work goes on by itself"), "{error:#}");
    assert!(error["hint"].as_str().expect("text").contains("`shuntyard spec run 001-export`"), "{error:#}");

    gate.open();
    let phase = || task(&env, "s001-implementer")["phase"].clone();
    eventually("the implementer to go on by itself", Duration::from_secs(20), || phase() == "done");
    assert_eq!(env.provider.requests(&key).entries.len(), 3, "nobody begins the next role without a run");
    let report = run(&env, 0, &[]);
    assert_eq!(outcomes(&report), ["s001-implementer done", "s001-validator pass"]);
    assert_eq!(env.provider.requests(&key).entries.len(), 5, "each step was asked for once");
    assert_eq!(task(&env, "s001-implementer")["attempts"].as_array().map(Vec::len), Some(1));
}
