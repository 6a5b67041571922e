//! `shuntyard demo` as a newcomer runs it, to its end.

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_testkit::TestEnv;
use std::path::Path;

/// The names of the files in a directory.
pub fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[track_caller]
pub fn nothing_is_left(env: &TestEnv) {
    assert_eq!(names(&env.root.join("tmp")), Vec::<String>::new(), "the scratch directory is removed");
    assert!(!env.data_dir().exists(), "the user's own store is not touched");
    assert_eq!(processes_of(env), Vec::<u32>::new(), "everything that was started is ended");
}

/// Processes with a demo's scratch directory in their environment.
pub fn processes_of(env: &TestEnv) -> Vec<u32> {
    processes_with(&env.root.join("tmp/shuntyard-demo-"))
}

/// Processes with this in their environment.
pub fn processes_with(mark: &Path) -> Vec<u32> {
    let mark = mark.to_string_lossy().into_owned();
    let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let marked = |pid: &u32| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        String::from_utf8_lossy(&environment).contains(&mark)
    };
    numbers.filter(marked).collect()
}

#[test]
fn the_demo_shows_what_it_promises_and_leaves_nothing() {
    let mut env = own_env("demo");
    // A key of the user's must neither be needed nor reach what the demo starts.
    env.set("ANTHROPIC_API_KEY", "sk-not-to-be-seen");
    let outcome = env.run(&["demo", "--json"]);
    outcome.expect_code(0);
    let report = outcome.json();
    assert_eq!(report["ok"], true, "{report:#}");
    let stages = report["stages"].as_array().expect("stages");
    let seen: Vec<Value> = stages
        .iter()
        .map(|stage| json!([stage["stage"], stage["dispatch"]["status"], stage["dispatch"]["error"]["class"]]))
        .collect();
    let expected = json!([["routed", "ok", null], ["structured", "ok", null], ["quota", "error", "quota_exhausted"]]);
    assert_eq!(Value::from(seen), expected);
    assert_eq!(stages[0]["dispatch"]["route"]["trace"][0]["chosen"], false, "routing had something to pass over");
    let tasks = report["tasks"].as_array().expect("tasks");
    let seen: Vec<Value> = tasks
        .iter()
        .map(|task| {
            let tries = task["tries"].as_array().expect("tries").iter();
            let tries: Vec<Value> = tries.map(|one| json!([one["model"], one["outcome"]])).collect();
            json!([task["id"], task["phase"], task["delivered"]["how"], tries])
        })
        .collect();
    let expected = json!([
        ["t001", "done", "merged", [["demo/swift", "approved"]]],
        ["t002", "done", "merged", [["demo/swift", "approved"]]],
        ["t003", "done", "merged", [["demo/swift", "refused"], ["demo/careful", "approved"]]],
    ]);
    assert_eq!(Value::from(seen), expected);
    let why = tasks[2]["tries"][0]["why"].as_str().expect("a reason");
    assert!(why.contains("grep -qx 2` ended with exit 1"), "{why}");
    assert_eq!(report["main"]["faults"], json!([]));
    let heads: Vec<&Value> = tasks.iter().map(|task| &task["delivered"]["head"]).collect();
    assert!(heads.contains(&&report["main"]["commit"]), "main is where the last of them was merged: {report:#}");
    assert!(tasks.iter().all(|task| task["cost_nano_usd"].as_i64().is_some_and(|cost| cost > 0)), "{report:#}");
    assert_eq!(report["cost"]["reported_nano_usd"], report["cost"]["ledger_nano_usd"]);
    assert!(report["cost"]["ledger_nano_usd"].as_i64().is_some_and(|cost| cost > 0));
    nothing_is_left(&env);
}
