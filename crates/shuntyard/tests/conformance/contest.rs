//! A contest of two models whose agents work in the real OpenCode.

use crate::own_env;
use serde_json::json;
use shuntyard_scripted::Step;
use std::process::Command;

#[test]
fn two_models_work_apart_and_the_green_one_is_merged_and_advises() {
    let env = own_env("contest");
    env.write_config("[supervise]\nadaptive = false\n");
    let git = |args: &[&str]| {
        let done = Command::new("git").args(args).current_dir(env.project()).output().expect("git");
        assert!(done.status.success(), "{args:?}: {}", String::from_utf8_lossy(&done.stderr));
        String::from_utf8_lossy(&done.stdout).trim().to_owned()
    };
    git(&["symbolic-ref", "HEAD", "refs/heads/main"]);
    git(&["config", "user.name", "Ann"]);
    git(&["config", "user.email", "ann@example.org"]);
    git(&["commit", "-qm", "first", "--allow-empty"]);
    for (model, answer) in [("alpha", "41"), ("beta", "42")] {
        env.provider.act(model, move |said| match said.last().is_some_and(|last| last.role == "tool") {
            true => Step::text("done"),
            false => {
                let command = format!("test ! -e answer.txt && echo {answer} > answer.txt");
                Step::tool("bash", json!({"command": command, "description": "write the answer"}))
            }
        });
    }
    let add =
        ["task", "add", "write the answer", "--strategy", "contest", "-m", "scripted/alpha", "-m", "scripted/beta"];
    let more = ["--verify", "grep -qx 42 answer.txt", "--deliver", "merge", "--task-type", "code-review", "--json"];
    let id = env.run(&[&add[..], &more].concat()).expect_code(0).json()["id"].as_str().expect("an id").to_owned();
    env.run(&["supervise", "--until-idle"]).expect_code(0);
    let task = env.run(&["task", "show", &id, "--json"]).expect_code(0).json();
    assert_eq!((&task["phase"], &task["contest"]["winner"]), (&json!("done"), &json!("scripted/beta")), "{task:#}");
    let entries = task["contest"]["entries"].as_array().expect("entries");
    let verified: Vec<_> = entries.iter().map(|entry| (&entry["model"], &entry["verify"])).collect();
    let expected = [(&json!("scripted/alpha"), &json!("red")), (&json!("scripted/beta"), &json!("green"))];
    assert_eq!(verified, expected, "{task:#}");
    for (entry, content) in entries.iter().zip(["41", "42"]) {
        assert_eq!(git(&["show", &format!("{}:answer.txt", entry["branch"].as_str().expect("a branch"))]), content);
    }
    assert_eq!(git(&["show", "main:answer.txt"]), "42");
    let route = env.run(&["route", "--json", "--task-type", "code-review", "Review this"]).expect_code(0).json();
    assert_eq!([&route["rule"], &route["model"]["model"]], ["contest", "beta"], "{route:#}");
}
