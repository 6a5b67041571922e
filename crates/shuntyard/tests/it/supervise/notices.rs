//! People are notified once of each event: by a command, on the desktop, and also of limits.

use crate::supervise::{Yard, yard::is_written};
use serde_json::Value;
use shuntyard_testkit::{Outcome, TestEnv, eventually};
use std::{os::unix::fs::PermissionsExt as _, path::PathBuf, time::Duration};

/// With a program of the name that a desktop has. Its arguments are in `desktop`, and the notices of the command in
/// `command`, a line each.
fn place(name: &str, more: &str, program_ends_with: u8) -> Yard {
    let mut yard = Yard::with(name, "");
    let root = yard.env.root.clone();
    let (tools, desktop, command) = (root.join("tools"), root.join("desktop"), root.join("command"));
    std::fs::create_dir(&tools).expect("a directory");
    let program = tools.join(if cfg!(target_os = "macos") { "osascript" } else { "notify-send" });
    let script =
        format!("#!/bin/sh\nprintf '%s|' \"$@\" >> {0}\necho >> {0}\nexit {program_ends_with}\n", desktop.display());
    std::fs::write(&program, script).expect("a program");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).expect("it can be run");
    let path = std::env::var("PATH").unwrap_or_default();
    yard.env.set("PATH", format!("{}:{path}", tools.display()));
    let notify = format!("{more}cat >> {0}; echo >> {0}", command.display());
    yard.env.set("SHUNTYARD_SUPERVISE_NOTIFY_COMMAND", notify);
    yard.env.set("SHUNTYARD_SUPERVISE_NOTIFY_DESKTOP", "true");
    yard.env.set("SHUNTYARD_SUPERVISE_EFFECT_LEASE", "1s");
    yard
}

fn lines(env: &TestEnv, file: &str) -> Vec<String> {
    let text = std::fs::read_to_string(env.root.join(file)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

fn notices(env: &TestEnv) -> Vec<(Value, Value)> {
    let read = |line: String| serde_json::from_str::<Value>(&line).expect("a notice");
    lines(env, "command")
        .into_iter()
        .map(read)
        .map(|notice| (notice["task"].clone(), notice["notice"].clone()))
        .collect()
}

#[test]
fn a_task_that_ends_is_told_by_every_channel_once() {
    for (name, program_ends_with) in [("notices", 0), ("notices-no-desktop", 1)] {
        let yard = place(name, "", program_ends_with);
        let good = yard.add(&["--in-place", "--command", "true"]);
        yard.settle();
        let bad = yard.add(&["--in-place", "--command", "echo '<b>no'; exit 3", "--attempts", "1"]);
        yard.settle();
        yard.settle();
        let expected = [(good.as_str().into(), "done".into()), (bad.as_str().into(), "failed".into())];
        assert_eq!(notices(&yard.env), expected);
        let shown = lines(&yard.env, "desktop");
        assert_eq!(shown.len(), 2, "{shown:?}");
        assert!(shown[0].contains(&format!("|Shuntyard: {good} is done|")), "{shown:?}");
        assert!(shown[1].contains(&format!("|Shuntyard: {bad} is failed|")), "{shown:?}");
    }
}

fn near_its_limit(env: &TestEnv) {
    env.run(&["budget", "configure", "scripted", "--billing-type", "token", "--daily-budget", "1"]).expect_code(0);
    env.run(&["budget", "record", "scripted", "--cost", "0.85"]).expect_code(0);
}

fn asked(env: &TestEnv) -> Outcome {
    env.run(&["dispatch", "-m", "scripted/alpha", "--json", "hello"])
}

#[test]
fn a_limit_that_comes_near_is_told_once_and_without_a_supervisor() {
    let yard = place("notices-budget", "", 0);
    near_its_limit(&yard.env);
    asked(&yard.env).expect_code(0);
    asked(&yard.env).expect_code(0);
    assert_eq!(notices(&yard.env), [(Value::Null, "budget".into())]);
    let shown = lines(&yard.env, "desktop");
    assert!(shown.len() == 1 && shown[0].contains("|Shuntyard: budget|budget: "), "{shown:?}");
    yard.env.run(&["pulse"]).expect_code(0);
    assert_eq!(notices(&yard.env).len(), 1, "a supervisor does not tell it again");
}

#[test]
fn a_notice_whose_process_died_is_sent_by_a_supervisor() {
    let dies = "test -e \"$HOME/died\" || { touch \"$HOME/died\"; kill -9 $PPID; exit 1; }; ";
    let yard = place("notices-died", dies, 0);
    near_its_limit(&yard.env);
    let died = asked(&yard.env);
    assert_eq!(died.code, None, "{}", died.stderr);
    let command: PathBuf = yard.env.root.join("command");
    eventually("the notice to be sent", Duration::from_secs(60), || {
        yard.env.run(&["pulse"]).expect_code(0);
        is_written(&command)
    });
    assert_eq!(notices(&yard.env), [(Value::Null, "budget".into())]);
    assert_eq!(lines(&yard.env, "desktop").len(), 1, "what is on the screen is not shown again");
}
