//! Cancelled, tried again, begun again.

use super::{SOON, add, phase, show, supervise, yard};
use serde_json::{Value, json};
use shuntyard_testkit::{TestEnv, eventually};

/// Whether a process has this word among its arguments, in this environment.
fn runs(env: &TestEnv, word: &str) -> bool {
    let home = format!("HOME={}", env.root.join("home").display());
    let has = |file: std::path::PathBuf, wanted: &str| {
        std::fs::read(file).unwrap_or_default().split(|byte| *byte == 0).any(|part| part == wanted.as_bytes())
    };
    let processes = std::fs::read_dir("/proc").expect("/proc").flatten();
    processes.map(|entry| entry.path()).any(|path| has(path.join("environ"), &home) && has(path.join("cmdline"), word))
}

fn order(env: &TestEnv, args: &[&str]) -> Value {
    let told = env.run(&[&["task", "--json"], args].concat());
    told.expect_code(0).json()["tasks"][0].clone()
}

#[test]
fn what_is_at_work_is_stopped_and_can_be_tried_again() {
    let env = yard("task-cancel");
    let id = add(&env, &["--command", "test -f go.txt || exec sleep 3141592", "--in-place"]);
    env.run(&["pulse"]).expect_code(0);
    eventually("its command runs", SOON, || runs(&env, "3141592"));
    assert_eq!(show(&env, &id)["state"], "running");
    let why = env.run(&["task", "why", &id, "--json"]).json();
    assert!(why["holder"]["pid"].as_u64().is_some_and(|pid| pid > 1), "{why:#}");
    assert!(why["why"].as_str().is_some_and(|why| why.starts_with("worker ")), "{why:#}");
    let status = env.run(&["status", "--json"]).json();
    assert_eq!((&status["running"][0]["id"], &status["counts"]["running"]), (&json!(id), &json!(1)));
    env.run(&["task", "reset", &id]).expect_code(3);
    let dry = order(&env, &["cancel", &id, "--dry-run"]);
    assert_eq!(dry, json!({"id": id, "state": "running", "would_be": "stopping"}));
    let cancelled = order(&env, &["cancel", &id, "--wait"]);
    assert_eq!((&cancelled["phase"], &cancelled["id"]), (&json!("cancelled"), &json!(id)), "{cancelled:#}");
    assert_eq!(cancelled["attempts"][0]["outcome"], "cancelled");
    eventually("nothing of it is left", SOON, || !runs(&env, "3141592"));
    env.run(&["task", "cancel", &id]).expect_code(3);
    std::fs::write(env.project().join("go.txt"), "").expect("written");
    assert_eq!(order(&env, &["retry", &id])["state"], "queued");
    supervise(&env);
    let done = show(&env, &id);
    assert_eq!((&done["phase"], done["attempts"].as_array().map(Vec::len)), (&json!("done"), Some(2)));
    env.run(&["task", "retry", &id]).expect_code(3);
    assert_eq!(order(&env, &["reset", &id, "--dry-run"])["would_be"], "queued");
    assert_eq!(phase(&env, &id), "done");
    assert_eq!(order(&env, &["reset", &id])["phase"], "queued");
    supervise(&env);
    assert_eq!(show(&env, &id)["attempts"].as_array().map(Vec::len), Some(3));
}

#[test]
fn several_are_changed_or_none() {
    let env = yard("task-several");
    let first = add(&env, &["first"]);
    let second = add(&env, &["second"]);
    assert_eq!(order(&env, &["cancel", &second])["reason"], "cancelled by a person");
    env.run(&["task", "cancel", &first, &second]).expect_code(3);
    assert_eq!(phase(&env, &first), "queued");
    let people = env.run(&["task", "cancel", &first]);
    assert_eq!(people.stdout, format!("{first}: cancelled (cancelled by a person)\n"));
    let both = env.run(&["task", "retry", &first, &second]);
    assert_eq!(both.expect_code(0).stdout, format!("{first}: queued\n{second}: queued\n"));
}
