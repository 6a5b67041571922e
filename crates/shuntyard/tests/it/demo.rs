//! What `shuntyard demo` prints, and what is left when it is ended in the middle.

use crate::{
    demo_whole::{nothing_is_left, processes_of, processes_with},
    own_env,
};
use shuntyard_testkit::{TestEnv, environment::finish, eventually};
use std::{
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command},
    time::Duration,
};

#[test]
fn people_get_a_table_and_no_colour_without_a_terminal() {
    let env = own_env("demo-people");
    let outcome = env.run(&["demo"]);
    outcome.expect_code(0);
    for part in [
        "WHAT",
        "MODEL",
        "TOKENS",
        "t002     t001 is done: demo/swift works",
        "t003     red: `sh count.sh Ada Grace | grep -qx 2` ended with exit 1\n",
        "t003     try 2: demo/careful",
        "t003     green, and merged into main at ",
        "quota_exhausted (expected)",
        "Next, with your own",
    ] {
        assert!(outcome.stdout.contains(part), "{part}\n{}", outcome.stdout);
    }
    let merged = |id: &str| outcome.stdout.find(&format!("{id}     green, and merged")).expect("it was merged");
    let begun = outcome.stdout.find("t002     t001 is done").expect("it was begun");
    assert!(merged("t001") < begun && begun < merged("t002"), "{}", outcome.stdout);
    assert!(!outcome.stdout.contains('\u{1b}'), "{}", outcome.stdout);
    assert_eq!(outcome.stderr, "", "there is no progress without a terminal");
    nothing_is_left(&env);
}

/// The workers of a demo's tasks.
fn workers_of(env: &TestEnv) -> Vec<u32> {
    let is_worker = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).split('\0').nth(1) == Some("work")
    };
    processes_of(env).into_iter().filter(is_worker).collect()
}

/// A moment at which the demo may be ended, by the line that it prints then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    ServerUp,
    TaskAtWork,
}

/// Starts the demo and waits until it is there.
fn started(env: &TestEnv, moment: Moment) -> Child {
    let mut child = env.spawn(&["demo"]);
    let stdout = BufReader::new(child.stdout.take().expect("a pipe"));
    let mut lines = stdout.lines().map_while(Result::ok);
    let sign = match moment {
        Moment::ServerUp => "is up",
        Moment::TaskAtWork => "claimed: demo/swift works",
    };
    assert!(lines.any(|line| line.contains(sign)), "it never came to {moment:?}");
    // The rest is read, so that a closed pipe is not what ends the demo.
    std::thread::spawn(move || lines.for_each(drop));
    if moment == Moment::TaskAtWork && Path::new("/proc").exists() {
        eventually("a worker is there", Duration::from_secs(10), || !workers_of(env).is_empty());
    }
    child
}

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([name, &child.id().to_string()]).status().expect("kill");
    assert!(sent.success());
}

#[test]
fn an_interrupt_ends_it_cleanly() {
    for moment in [Moment::ServerUp, Moment::TaskAtWork] {
        let env = own_env(&format!("demo-interrupt-{moment:?}"));
        let child = started(&env, moment);
        signal(&child, "-INT");
        let outcome = finish(child);
        outcome.expect_code(1);
        assert!(outcome.stderr.contains("the demo was stopped"), "{}", outcome.stderr);
        nothing_is_left(&env);
    }
}

#[test]
fn a_kill_leaves_no_process() {
    for moment in [Moment::ServerUp, Moment::TaskAtWork] {
        let env = own_env(&format!("demo-kill-{moment:?}"));
        let mut child = started(&env, moment);
        assert!(!Path::new("/proc").exists() || !processes_of(&env).is_empty(), "the server is one of its processes");
        signal(&child, "-KILL");
        child.wait().expect("the demo ends");
        let gone = || processes_of(&env).is_empty();
        eventually("server and workers end with the demo", Duration::from_secs(15), gone);
    }
}

#[test]
fn a_worker_ends_with_the_process_that_it_belongs_to() {
    let mut env = own_env("demo-owner");
    let mut owner = Command::new("sleep").arg("600").spawn().expect("a process");
    env.set("SHUNTYARD_SERVER_OWNER_PID", owner.id().to_string());
    env.run(&["task", "add", "--command", "sleep 600", "--in-place"]).expect_code(0);
    env.run(&["pulse"]).expect_code(0);
    let running = || env.run(&["task", "show", "t001", "--json"]).json()["state"] == "running";
    eventually("the task is at work", Duration::from_secs(20), running);
    assert!(!Path::new("/proc").exists() || !processes_with(&env.root).is_empty(), "its worker is there");
    owner.kill().expect("it is ours");
    owner.wait().expect("it ends");
    eventually("the worker ends as well", Duration::from_secs(15), || processes_with(&env.root).is_empty());
}

#[test]
fn an_opencode_that_is_not_there_is_pointed_out() {
    let mut env = own_env("demo-missing");
    env.set("SHUNTYARD_OPENCODE_BIN", "/no/such/opencode");
    env.run(&["demo", "--json"]).expect_code(4).expect_class("opencode_missing");
    env.run(&["demo", "--server", "http://127.0.0.1:1", "--json"]).expect_code(2).expect_class("usage");
    nothing_is_left(&env);
}
