//! Agent and command mode: tools, permissions, steps, children.

use crate::env;
use serde_json::json;
use shuntyard_scripted::Step;
use std::path::PathBuf;

/// A directory of a test's own inside the project, so that tests do not see each other's files.
fn workplace(name: &str) -> PathBuf {
    let directory = env().root.join("work").join(name);
    std::fs::create_dir_all(&directory).expect("a directory");
    let git = std::process::Command::new("git").args(["init", "-q"]).arg(&directory).status().expect("git");
    assert!(git.success());
    directory
}

fn agent(directory: &std::path::Path, args: &[&str]) -> shuntyard_testkit::Outcome {
    let directory = directory.to_string_lossy();
    env().dispatch(&[&["--mode", "agent", "-m", "scripted/alpha", "--dir", &directory], args].concat())
}

#[test]
fn an_agent_really_changes_files() {
    let directory = workplace("writes");
    let file = directory.join("hello.txt");
    let steps = vec![
        Step::tool("write", json!({"filePath": file, "content": "hello from the agent\n"})),
        Step::tool(
            "bash",
            json!({"command": "git add -A && git -c user.name=t -c user.email=t@t commit -qm work", "description": "commit"}),
        ),
        Step::text("written and committed"),
    ];
    let key = env().provider.script("writes", steps);
    let report = agent(&directory, &[&key]).expect_ok();
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "hello from the agent\n");
    assert_eq!(report["text"], "written and committed");
    assert_eq!(report["kept"], true, "an agent's session is kept");
    assert_eq!(report["warnings"], json!([]));
    let log =
        std::process::Command::new("git").args(["log", "--format=%s"]).current_dir(&directory).output().expect("git");
    assert_eq!(String::from_utf8_lossy(&log.stdout), "work\n");
    let tools = &env().provider.requests(&key).entries[0].tools;
    assert!(tools.contains(&"bash".to_owned()), "{tools:?}");
    for denied in ["task", "question"] {
        assert!(!tools.contains(&denied.to_owned()), "an unattended agent is not offered {denied}: {tools:?}");
    }
}

#[test]
fn an_agent_that_only_talks_is_flagged() {
    let directory = workplace("talks");
    let key = env().provider.script("talks", vec![Step::text("I would change the file like this")]);
    let report = agent(&directory, &[&key]).expect_ok();
    assert!(report["warnings"][0].as_str().is_some_and(|w| w.contains("changed nothing")), "{report:#}");
}

#[test]
fn an_agent_is_kept_inside_its_directory() {
    let directory = workplace("outside");
    let steps = vec![Step::tool("read", json!({"filePath": "/etc/hostname"})), Step::text("could not read it")];
    let key = env().provider.script("outside", steps);
    let report = agent(&directory, &[&key]).expect_ok();
    assert_eq!(report["text"], "could not read it");
    let hostname = std::fs::read_to_string("/etc/hostname").unwrap_or_else(|_| "no-hostname-file".into());
    let said = format!("{:?}", env().provider.requests(&key).entries[1].messages);
    assert!(!said.contains(hostname.trim()), "the content did not reach the model: {said}");
}

#[test]
fn a_permission_that_would_ask_is_refused_and_the_run_goes_on() {
    let directory = workplace("asks");
    std::fs::write(directory.join(".env"), "TOKEN=very-private\n").expect("written");
    let steps = vec![Step::tool("read", json!({"filePath": directory.join(".env")})), Step::text("went on without it")];
    let key = env().provider.script("asks", steps);
    let report = agent(&directory, &[&key]).expect_ok();
    assert_eq!(report["text"], "went on without it");
    assert!(report["warnings"][0].as_str().is_some_and(|w| w.starts_with("refused")), "{report:#}");
    let said = format!("{:?}", env().provider.requests(&key).entries[1].messages);
    assert!(!said.contains("very-private"), "{said}");
}

#[test]
fn a_permission_of_a_child_session_is_answered_too() {
    let directory = workplace("child-asks");
    std::fs::write(directory.join(".env"), "TOKEN=very-private\n").expect("written");
    let key = env().provider.fresh_key("child-asks");
    let task = json!({"description": "look", "prompt": format!("look {key}"), "subagent_type": "general"});
    env().provider.script_key(
        &key,
        vec![
            Step::tool("task", task),
            Step::tool("read", json!({"filePath": directory.join(".env")})),
            Step::text("the child could not look"),
            Step::text("the parent is done"),
        ],
    );
    let report = env()
        .dispatch(&[
            "--mode",
            "command",
            "-m",
            "scripted/alpha",
            "--dir",
            &directory.to_string_lossy(),
            &format!("delegate {key}"),
        ])
        .expect_ok();
    assert_eq!(report["text"], "the parent is done");
    assert!(report["warnings"][0].as_str().is_some_and(|w| w.starts_with("refused")), "{report:#}");
}

#[test]
fn an_agent_ends_at_its_step_limit() {
    let directory = workplace("steps");
    let step = || Step::tool("bash", json!({"command": "true", "description": "nothing"}));
    let key = env().provider.script("steps", std::iter::repeat_with(step).take(20).collect());
    let outcome = agent(&directory, &["--steps", "3", &key]);
    outcome.expect_code(1).expect_class("truncated");
    assert!(outcome.json()["error"]["message"].as_str().is_some_and(|m| m.contains("3 steps")), "{}", outcome.stdout);
    let asked = env().provider.requests(&key).entries.len();
    assert!((3..15).contains(&asked), "stopped long before the script ended: {asked}");
}

#[test]
fn an_agent_that_runs_out_of_time_leaves_no_process() {
    let directory = workplace("sleeps");
    let marker = "31415926";
    let step = Step::tool("bash", json!({"command": format!("sleep {marker}"), "description": "sleep"}));
    let key = env().provider.script("sleeps", vec![step]);
    let outcome = agent(&directory, &["--timeout", "5s", &key]);
    outcome.expect_code(5).expect_class("timeout");
    shuntyard_testkit::eventually("the agent's command is ended", std::time::Duration::from_secs(10), || {
        let found =
            std::process::Command::new("pgrep").args(["-f", &format!("sleep {marker}")]).output().expect("pgrep");
        found.stdout.is_empty()
    });
}

#[test]
fn a_command_of_the_user_runs() {
    let key = env().provider.script("greet", vec![Step::text("hello to all")]);
    let report =
        env().dispatch(&["--mode", "command", "-m", "scripted/alpha", &format!("/greet everyone {key}")]).expect_ok();
    assert_eq!(report["text"], "hello to all");
    assert_eq!(env().provider.requests(&key).entries[0].last_user_text, format!("Greet everyone {key}"));
    let unknown = env().dispatch(&["--mode", "command", "-m", "scripted/alpha", "/gret everyone"]);
    unknown.expect_code(2);
    assert!(unknown.stdout.contains("greet"), "{}", unknown.stdout);
}

#[test]
fn an_unknown_agent_is_refused_with_those_that_exist() {
    let outcome = env().dispatch(&["--mode", "agent", "--agent", "biuld", "-m", "scripted/alpha", "hello"]);
    outcome.expect_code(2);
    assert!(outcome.stdout.contains("build"), "{}", outcome.stdout);
}
