//! Command lines that are run to their end or their deadline; each under a guard.

use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use shuntyard_host::shell::{Check, Checked, Exit, ShellError};

use crate::scene::{PATIENCE, Scene};

pub const ALL: &[(&str, fn())] = &[
    ("a_check_says_how_it_ended_and_what_it_printed", a_check_says_how_it_ended_and_what_it_printed),
    ("a_check_finds_only_the_variables_it_was_given", a_check_finds_only_the_variables_it_was_given),
    ("the_deadline_of_a_check_leaves_no_process", the_deadline_of_a_check_leaves_no_process),
    ("a_check_that_ends_leaves_no_process", a_check_that_ends_leaves_no_process),
    ("a_flood_of_output_is_read_and_its_log_is_bounded", a_flood_of_output_is_read_and_its_log_is_bounded),
    ("a_check_may_save_its_work_when_its_deadline_passes", a_check_may_save_its_work_when_its_deadline_passes),
    ("what_a_check_leaves_does_not_get_its_grace", what_a_check_leaves_does_not_get_its_grace),
    ("a_check_that_cannot_run_says_so", a_check_that_cannot_run_says_so),
];

fn check(scene: &Scene, command: &str, deadline: Duration) -> Check {
    let path = ("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    let variables = scene.variables().into_iter().chain([path]).map(|(name, value)| (name.into(), value.into()));
    Check {
        command: command.to_owned(),
        directory: scene.directory.path().to_owned(),
        variables: variables.collect(),
        deadline,
        grace: Duration::from_secs(3),
        log: scene.directory.path().join("log"),
    }
}

fn run(check: &Check) -> Checked {
    check.run(&std::env::current_exe().unwrap()).unwrap()
}

fn a_check_says_how_it_ended_and_what_it_printed() {
    let scene = Scene::new("check");
    let log = scene.directory.path().join("log");
    std::fs::write(&log, "of an earlier run, and longer than what comes now").unwrap();
    std::fs::set_permissions(&log, std::fs::Permissions::from_mode(0o644)).unwrap();
    let done = run(&check(&scene, "echo one; echo two >&2; echo three; exit 3", PATIENCE));
    assert_eq!((done.exit, done.tail.as_str()), (Exit::Code(3), "one\ntwo\nthree\n"));
    assert_eq!((done.output_bytes, done.logged_bytes), (14, 14));
    assert_eq!(std::fs::read_to_string(&done.log).unwrap(), "one\ntwo\nthree\n");
    assert_eq!(std::fs::metadata(&done.log).unwrap().permissions().mode() & 0o777, 0o600);
    for (script, exit) in [("true", Exit::Code(0)), ("kill -KILL $$", Exit::Signal(9)), ("nowhere", Exit::Code(127))] {
        assert_eq!(run(&check(&scene, script, PATIENCE)).exit, exit, "{script}");
    }
}

fn a_check_finds_only_the_variables_it_was_given() {
    let scene = Scene::new("variables");
    let mut asked = check(&scene, "pwd -P; env | sed 's/=.*//' | sort; cat", PATIENCE);
    asked.variables = vec![("HOME".into(), "/nowhere".into()), ("PATH".into(), "/usr/bin:/bin".into())];
    let done = run(&asked);
    let mut lines = done.tail.lines();
    assert_eq!(lines.next(), scene.directory.path().canonicalize().unwrap().to_str());
    // The shell itself sets some of its own.
    let own = ["PWD", "OLDPWD", "SHLVL", "_"];
    let names: Vec<&str> = lines.filter(|name| !own.contains(name)).collect();
    assert_eq!(names, ["HOME", "PATH", "SHUNTYARD_GUARD"]);
}

/// The sleeper has forked twice, leads a session of its own and has no parent that is still ours.
fn the_deadline_of_a_check_leaves_no_process() {
    let scene = Scene::new("late");
    let daemon = "(setsid sh -c 'echo $$ > $SCENE/up; exec sleep 300' &); while [ ! -s $SCENE/up ]; do :; done";
    let done = run(&check(&scene, &format!("{daemon}; echo begun; sleep 300"), Duration::from_secs(3)));
    assert_eq!((done.exit, done.tail.as_str()), (Exit::Deadline, "begun\n"));
    scene.await_file("up");
    assert_eq!(scene.processes(), []);
    assert!(done.took >= Duration::from_secs(3), "{:?}", done.took);
}

fn a_check_may_save_its_work_when_its_deadline_passes() {
    let scene = Scene::new("saves");
    let script = "exec 2> /dev/null; trap 'sleep 4; echo saved; exit 0' TERM; echo begun; while :; do sleep 0.1; done";
    let patient = Check { grace: PATIENCE, ..check(&scene, script, Duration::from_secs(10)) };
    let done = run(&patient);
    assert_eq!((done.exit, done.tail.as_str()), (Exit::Deadline, "begun\nsaved\n"));
    assert_eq!(scene.processes(), []);
}

/// It has ended by itself, and what it left ignores that it is asked to end.
fn what_a_check_leaves_does_not_get_its_grace() {
    let scene = Scene::new("stubborn");
    let left = "(setsid sh -c 'trap \"\" TERM; echo $$ > $SCENE/up; while :; do sleep 0.1; done' &)";
    let script = format!("{left}; while [ ! -s $SCENE/up ]; do :; done; exit 4");
    let patient = Check { grace: Duration::from_secs(3600), ..check(&scene, &script, PATIENCE) };
    assert_eq!(run(&patient).exit, Exit::Code(4));
    assert_eq!(scene.processes(), []);
}

fn a_check_that_ends_leaves_no_process() {
    let scene = Scene::new("left");
    let script = "(setsid sh -c 'echo $$ > $SCENE/up; exec sleep 300' &); while [ ! -s $SCENE/up ]; do :; done; exit 4";
    assert_eq!(run(&check(&scene, script, PATIENCE)).exit, Exit::Code(4));
    scene.await_file("up");
    assert_eq!(scene.processes(), []);
}

fn a_flood_of_output_is_read_and_its_log_is_bounded() {
    let scene = Scene::new("flood");
    let done = run(&check(&scene, "yes ab | head -c 12000000; echo the end", PATIENCE));
    assert_eq!((done.exit, done.output_bytes, done.logged_bytes), (Exit::Code(0), 12_000_008, 10 * 1024 * 1024));
    assert_eq!(std::fs::metadata(&done.log).unwrap().len(), 10 * 1024 * 1024);
    assert!(done.tail.ends_with("ab\nthe end\n") && done.tail.len() == 4096, "{}", done.tail.len());
}

fn a_check_that_cannot_run_says_so() {
    let scene = Scene::new("cannot");
    let own = std::env::current_exe().unwrap();
    let mut nowhere = check(&scene, "true", PATIENCE);
    nowhere.log = "/no/such/place/log".into();
    assert!(matches!(nowhere.run(&own), Err(ShellError::Log { .. })));
    let mut nowhere = check(&scene, "true", PATIENCE);
    nowhere.directory = "/no/such/place".into();
    assert!(matches!(nowhere.run(&own), Err(ShellError::Start(_))));
}
