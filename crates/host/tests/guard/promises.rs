//! One function for each promise.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use shuntyard_host::detached::spawn_detached;
use shuntyard_host::guarded::Environment;
use shuntyard_host::tree::descendants;
use shuntyard_host::{GuardedCommand, ProcessIdentity, Signal};

use crate::scene::{PATIENCE, Scene, until};

pub const ALL: &[(&str, fn())] = &[
    ("closing_the_pipe_ends_the_tree", closing_the_pipe_ends_the_tree),
    ("dropping_the_child_ends_the_tree", dropping_the_child_ends_the_tree),
    ("a_killed_owner_takes_the_tree_along", a_killed_owner_takes_the_tree_along),
    ("a_killed_guard_takes_the_command_along", a_killed_guard_takes_the_command_along),
    ("a_killed_command_leaves_nothing_behind", a_killed_command_leaves_nothing_behind),
    ("a_command_that_ends_leaves_no_daemon_behind", a_command_that_ends_leaves_no_daemon_behind),
    ("asking_the_guard_to_stop_ends_the_tree", asking_the_guard_to_stop_ends_the_tree),
    ("the_deaf_are_killed_after_the_grace", the_deaf_are_killed_after_the_grace),
    ("the_grace_is_used_to_end_in_order", the_grace_is_used_to_end_in_order),
    ("a_stuck_guard_is_killed_with_its_tree", a_stuck_guard_is_killed_with_its_tree),
    ("exit_codes_pass_through", exit_codes_pass_through),
    ("adopted_children_are_collected", adopted_children_are_collected),
    ("output_environment_and_directory_reach_the_command", output_environment_and_directory_reach_the_command),
    ("a_sweep_ends_what_a_killed_guard_left", a_sweep_ends_what_a_killed_guard_left),
    ("a_detached_program_leads_its_own_session", a_detached_program_leads_its_own_session),
];

/// A child in the shell's group, one in a session of its own, and the shell that waits for both.
const FAMILY: &str = "sleep 300 & setsid sleep 300 & wait";
/// As above, but deaf to requests; the kill is all that helps.
const DEAF: &str = "trap '' TERM; sleep 300 & setsid sleep 300 & while :; do wait; sleep 300; done";

fn closing_the_pipe_ends_the_tree() {
    let scene = Scene::new("pipe");
    let mut child = scene.start(FAMILY);
    scene.await_running("sleep", 2);
    let status = child.shutdown(PATIENCE).unwrap();
    assert_eq!(status.code(), Some(128 + 15));
    assert_eq!(scene.processes(), []);
}

fn dropping_the_child_ends_the_tree() {
    let scene = Scene::new("drop");
    let child = scene.start(FAMILY);
    scene.await_running("sleep", 2);
    drop(child);
    scene.await_empty();
}

fn a_killed_owner_takes_the_tree_along() {
    let scene = Scene::new("owner");
    let own = std::env::current_exe().unwrap();
    let mut owner = Command::new(own).args(["role-owner", FAMILY]).envs(scene.variables()).spawn().unwrap();
    scene.await_running("sleep", 2);
    owner.kill().unwrap();
    owner.wait().unwrap();
    scene.await_empty();
}

fn a_killed_guard_takes_the_command_along() {
    let scene = Scene::new("guard");
    let mut child = scene.start(FAMILY);
    scene.await_running("sleep", 2);
    let command = scene.running("sh")[0];
    assert!(child.identity().signal(Signal::KILL));
    // The guard was not waited for yet: the command's end is the system's work.
    if cfg!(target_os = "linux") {
        until("the command's end", || (!command.is_alive()).then_some(()));
    }
    let status = child.wait_timeout(PATIENCE).unwrap().unwrap();
    assert_eq!(status.code(), None);
    assert_eq!(scene.processes(), []);
}

fn a_killed_command_leaves_nothing_behind() {
    let scene = Scene::new("command");
    let mut child = scene.start(FAMILY);
    scene.await_running("sleep", 2);
    assert!(scene.running("sh")[0].signal(Signal::KILL));
    let status = child.wait_timeout(PATIENCE).unwrap().unwrap();
    assert_eq!(status.code(), Some(128 + 9));
    assert_eq!(scene.processes(), []);
}

fn a_command_that_ends_leaves_no_daemon_behind() {
    let scene = Scene::new("daemon");
    let script = "(setsid sh -c 'echo up > $SCENE/up; exec sleep 300' &); while [ ! -s $SCENE/up ]; do :; done; exit 4";
    let mut child = scene.start(script);
    let status = child.wait_timeout(PATIENCE).unwrap().unwrap();
    scene.await_file("up");
    assert_eq!(status.code(), Some(4));
    assert_eq!(scene.processes(), []);
}

fn asking_the_guard_to_stop_ends_the_tree() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP] {
        let scene = Scene::new("asked");
        let mut child = scene.start(FAMILY);
        scene.await_running("sleep", 2);
        assert!(child.identity().signal(signal));
        assert_eq!(child.wait_timeout(PATIENCE).unwrap().unwrap().code(), Some(128 + 15), "{signal:?}");
        assert_eq!(scene.processes(), []);
    }
}

fn the_deaf_are_killed_after_the_grace() {
    let scene = Scene::new("deaf");
    let mut command = scene.shell(DEAF);
    command.grace = Duration::from_millis(300);
    let mut child = command.spawn(&std::env::current_exe().unwrap()).unwrap();
    scene.await_running("sleep", 2);
    let started = Instant::now();
    let status = child.shutdown(PATIENCE).unwrap();
    assert_eq!(status.code(), Some(128 + 9));
    assert!(started.elapsed() >= Duration::from_millis(300));
    assert_eq!(scene.processes(), []);
}

fn the_grace_is_used_to_end_in_order() {
    let scene = Scene::new("order");
    let mut child = scene.start(
        "trap 'echo saved > $SCENE/saved; exit 0' TERM; echo up > $SCENE/up; while :; do sleep 300 & wait; done",
    );
    scene.await_file("up");
    assert_eq!(child.shutdown(PATIENCE).unwrap().code(), Some(0));
    assert_eq!(scene.await_file("saved"), "saved");
    assert_eq!(scene.processes(), []);
}

fn a_stuck_guard_is_killed_with_its_tree() {
    let scene = Scene::new("stuck");
    let mut child = scene.start(FAMILY);
    scene.await_running("sleep", 2);
    assert!(child.identity().signal(Signal::STOP));
    let status = child.shutdown(Duration::from_millis(100)).unwrap();
    assert_eq!(status.code(), None);
    assert_eq!(scene.processes(), []);
}

fn exit_codes_pass_through() {
    let scene = Scene::new("codes");
    for (script, code) in [("exit 0", 0), ("exit 7", 7), ("kill -TERM $$", 143), ("kill -KILL $$", 137)] {
        let status = scene.start(script).wait_timeout(PATIENCE).unwrap().unwrap();
        assert_eq!(status.code(), Some(code), "{script}");
    }
    let own = std::env::current_exe().unwrap();
    for (program, code) in [("no-such-program-anywhere", 127), ("/dev/null", 126)] {
        let mut child = GuardedCommand::new(program, [""; 0]).spawn(&own).unwrap();
        assert_eq!(child.wait_timeout(PATIENCE).unwrap().unwrap().code(), Some(code), "{program}");
    }
}

/// A process that was not waited for keeps its number, so a number that is free again was waited for.
fn adopted_children_are_collected() {
    let scene = Scene::new("adopted");
    let mut child = scene.start("(sh -c 'echo $$ > $SCENE/orphan' &); exec sleep 300");
    let orphan: u32 = scene.await_file("orphan").parse().unwrap();
    let guard = child.identity().pid;
    until("the orphan's end", || ProcessIdentity::of(orphan).is_none().then_some(()));
    until("the command to be alone", || (descendants(guard).len() == 1).then_some(()));
    assert!(child.try_wait().unwrap().is_none());
    child.shutdown(PATIENCE).unwrap();
    assert_eq!(scene.processes(), []);
}

fn output_environment_and_directory_reach_the_command() {
    let scene = Scene::new("output");
    let mut command = scene.shell("pwd; echo ${HOME-no home}; cat; echo complaint >&2");
    command.program = "/bin/sh".into();
    command.environment = Environment::Empty;
    command.variables.push(("PATH".into(), "/usr/bin:/bin".into()));
    command.directory = Some("/".into());
    command.stdout = Stdio::piped();
    command.stderr = Stdio::piped();
    let mut child = command.spawn(&std::env::current_exe().unwrap()).unwrap();
    let (mut output, mut complaint) = (String::new(), String::new());
    child.take_stdout().unwrap().read_to_string(&mut output).unwrap();
    child.take_stderr().unwrap().read_to_string(&mut complaint).unwrap();
    assert_eq!((output.as_str(), complaint.as_str()), ("/\nno home\n", "complaint\n"));
    assert_eq!(child.wait_timeout(PATIENCE).unwrap().unwrap().code(), Some(0));
}

/// Without the guard's mark, being adopted is the only tie that is left.
fn a_sweep_ends_what_a_killed_guard_left() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let scene = Scene::new("sweep");
    let script = "unset SHUNTYARD_GUARD; sleep 300 & setsid sleep 300 & wait";
    let own = std::env::current_exe().unwrap();
    let mut sweeper = Command::new(own).args(["role-sweeper", script]).envs(scene.variables()).spawn().unwrap();
    let ended = until("the sweeper", || sweeper.try_wait().unwrap());
    assert_eq!(ended.code(), Some(0));
    assert_eq!(scene.processes(), []);
}

fn a_detached_program_leads_its_own_session() {
    if cfg!(not(target_os = "linux")) {
        return;
    }
    let scene = Scene::new("detached");
    let own = std::env::current_exe().unwrap();
    let log = scene.directory.path().join("log");
    let mut child = spawn_detached(&own, ["role-detached", ""], std::env::vars_os(), "/".as_ref(), &log).unwrap();
    let status = until("its end", || child.try_wait().unwrap());
    assert_eq!(status.code(), Some(0), "{}", std::fs::read_to_string(&log).unwrap());
}
