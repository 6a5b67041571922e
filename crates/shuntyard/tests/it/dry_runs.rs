//! `--dry-run`: what would happen is shown, and nothing does.

use crate::{
    own_env,
    tasks::{add, yard},
};
use serde_json::json;
use std::path::Path;

#[test]
fn a_dispatch_is_decided_and_not_sent() {
    let env = own_env("dry-dispatch");
    let key = env.provider.script("dry", Vec::new());
    let one = env.run(&["dispatch", "--mode", "agent", "-m", "scripted/alpha", "--dry-run", "--json", &key]);
    assert_eq!(one.expect_code(0).json()["ref"], "scripted/alpha");
    let people = env.run(&["dispatch", "-m", "scripted/alpha", "--dry-run", &key]);
    people.expect_code(0);
    assert!(
        people.stdout.contains("scripted/alpha") && people.stderr.contains("nothing was sent"),
        "{}",
        people.stderr
    );
    let two = env.run(&["dispatch", "-m", "scripted/alpha", "-m", "scripted/beta", "--dry-run", "--json", &key]);
    let asked = two.expect_code(0).json()["would_ask"].clone();
    let models: Vec<&str> = asked.as_array().into_iter().flatten().filter_map(|one| one["model"].as_str()).collect();
    assert_eq!(models, ["scripted/alpha", "scripted/beta"]);
    assert_eq!(env.servers(), Vec::<serde_json::Value>::new(), "no server was started");
    env.run(&["dispatch", "-m", "scripted/nothing-like-it", "--dry-run", &key]).expect_code(2);
    assert_eq!(env.provider.requests(&key).entries.len(), 0, "the provider was never asked");
}

#[test]
fn a_review_with_fixes_names_who_would_work_and_changes_nothing() {
    let env = yard("dry-review");
    let file = env.project().join("README.md");
    std::fs::write(&file, "hello again\n").expect("written");
    let args = ["review", "--loop", "-m", "scripted/alpha", "-m", "scripted/beta", "--fixer", "scripted/alpha"];
    let shown = env.run(&[&args[..], &["--dry-run", "--json"]].concat());
    let document = shown.expect_code(0).json();
    assert_eq!(document["fixer"], json!({"name": "scripted/alpha", "max_iterations": 5}));
    assert_eq!(document["would_ask"].as_array().map(Vec::len), Some(2));
    assert_eq!(std::fs::read_to_string(&file).expect("the file"), "hello again\n");
    assert_eq!(env.provider.ledger().entries.len(), 0, "the provider was never asked");
}

#[test]
fn a_supervisor_says_what_it_would_start() {
    let env = yard("dry-supervise");
    let id = add(&env, &["Rename foo"]);
    let shown = env.run(&["supervise", "--dry-run", "--json"]);
    assert_eq!(shown.expect_code(0).json()["started"], json!([id]));
    let task = env.run(&["task", "show", &id, "--json"]).expect_code(0).json();
    assert_eq!((&task["phase"], &task["attempts"]), (&json!("queued"), &json!([])));
}

#[test]
fn an_export_is_counted_and_not_written() {
    let env = own_env("dry-export");
    env.run(&["patterns", "record", "--task-type", "simple-fix", "--model", "a/b", "--outcome", "success"])
        .expect_code(0);
    let file = env.root.join("outcomes.json");
    let name = file.to_string_lossy();
    let shown = env.run(&["patterns", "export", "--output", &name, "--dry-run", "--json"]);
    assert_eq!(shown.expect_code(0).json(), json!({"file": name, "outcomes": 1, "written": false}));
    assert!(!file.exists());
    env.run(&["patterns", "export", "--dry-run"]).expect_code(2);
}

#[test]
fn manual_pages_are_written_for_every_command() {
    let env = own_env("man");
    let directory = env.root.join("share/man1");
    let name = directory.to_string_lossy();
    let dry = env.run(&["man", &name, "--dry-run", "--json"]).expect_code(0).json();
    assert!(dry["written"] == false && !directory.exists());
    let written = env.run(&["man", &name, "--json"]).expect_code(0).json();
    assert_eq!(written["files"], dry["files"]);
    let files: Vec<&str> = written["files"].as_array().into_iter().flatten().filter_map(|file| file.as_str()).collect();
    assert!(files.iter().all(|file| Path::new(file).is_file()), "{files:?}");
    let text = |page: &str| std::fs::read_to_string(directory.join(page)).expect("a page");
    assert!(text("shuntyard.1").contains(".TH shuntyard 1") && text("shuntyard.1").contains("shuntyard\\-task"));
    let add = text("shuntyard-task-add.1");
    assert!(add.contains(".SH SYNOPSIS") && add.contains("\\-\\-depends\\-on"), "{add}");
    assert!(!files.iter().any(|file| file.contains("keeper") || file.contains("help")), "{files:?}");
}
