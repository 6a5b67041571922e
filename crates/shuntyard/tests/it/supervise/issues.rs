//! `--with-issue`: made, assigned, closed with a link, and what could not be done is shown.

use crate::supervise::hub::Hub;
use serde_json::{Value, json};

/// A repository that opted in, with a plan on its remote.
fn hub(name: &str, plan: &str) -> Hub {
    let hub = Hub::with(name, "todo = true\nverify = \"true\"\ntier = \"haiku\"");
    std::fs::write(hub.yard.repository().join("TODO.md"), plan).expect("a file");
    hub.yard.git(&["add", "-A"]);
    hub.yard.git(&["commit", "-qm", "plan"]);
    hub.yard.git(&["push", "-q", "origin", "main"]);
    hub
}

fn plan(hub: &Hub) -> String {
    hub.yard.env.run(&["task", "sync"]).expect_code(0);
    crate::supervise::yard::git_in(&hub.directory.join("remote"), &["show", "main:TODO.md"])
}

fn problem(hub: &Hub) -> Value {
    hub.yard.env.run(&["status", "--json"]).expect_code(0).json()["todo"][0]["problem"].clone()
}

#[test]
fn an_issue_is_made_assigned_and_closed_with_the_commit() {
    let hub = hub("issues-life", "- [ ] t001 write it\n");
    let env = &hub.yard.env;
    env.run(&["task", "add", "--id", "t001", "--with-issue", "--command", "echo one > one.txt"]).expect_code(0);
    assert_eq!(
        (hub.calls("issue create --title t001: write it"), hub.calls("issue edit 1 --add-assignee @me")),
        (1, 1)
    );
    assert!(plan(&hub).contains("ref:GH#1"), "{}", plan(&hub));
    env.run(&["supervise", "--until-idle"]).expect_code(0);
    let task = hub.yard.task("t001");
    assert_eq!((&task["phase"], &task["with_issue"]), (&json!("done"), &json!(true)), "{task:#}");
    let commit = task["receipt"]["commit"].as_str().expect("a commit");
    assert!(plan(&hub).starts_with("- [x] t001"), "{}", plan(&hub));
    assert_eq!(hub.calls(&format!("issue close 1 --comment Done and verified ({commit})")), 1);
    assert_eq!(problem(&hub), Value::Null);
}

#[test]
fn what_gh_refuses_is_shown_and_keeps_no_work_from_being_done() {
    let hub = hub("issues-broken", "- [ ] t001 write it\n");
    hub.set("broken", "");
    let added = hub.yard.env.run(&["task", "add", "--id", "t001", "--with-issue", "--command", "echo one > one.txt"]);
    assert!(added.expect_code(0).stderr.contains("t001 has no issue: gh: error connecting"), "{}", added.stderr);
    assert!(problem(&hub).to_string().contains("t001 has no issue: gh: error connecting"), "{}", problem(&hub));
    hub.yard.env.run(&["supervise", "--until-idle"]).expect_code(0);
    assert_eq!(hub.yard.phase("t001"), "done");
}
