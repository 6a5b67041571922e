//! Queued work when processes die, and workflows that outlive them.

use crate::{
    mcp::{client::Client, own_env},
    yard::assert_covered,
};
use serde_json::{Value, json};
use shuntyard_scripted::{Step, Tokens};
use shuntyard_testkit::{TestEnv, eventually};
use std::time::Duration;

fn yard(name: &str, more: &str) -> TestEnv {
    let env = own_env(name);
    let profiles = "[profiles]\ncoder = \"scripted/alpha\"\narchitect = \"scripted/beta\"\n";
    env.write_config(&format!("{more}\n{profiles}"));
    env
}

/// The process that executes the jobs of a place.
fn runner(env: &TestEnv) -> Option<u32> {
    let root = env.root.display().to_string();
    let of = |entry: std::fs::DirEntry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let words: Vec<String> = String::from_utf8_lossy(&line).split('\0').map(str::to_owned).collect();
        (words.get(1)? == "runner" && words.get(2)?.starts_with(&root)).then_some(pid)
    };
    std::fs::read_dir("/proc").expect("processes").flatten().find_map(of)
}

fn kill(pid: u32) {
    let status = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status().expect("kill");
    assert!(status.success());
}

#[test]
fn a_killed_runner_loses_nothing() {
    let env = yard("mcp-runner", "");
    let mut client = Client::start(&env, &[]);
    let key = env.provider.script("twice", vec![Step::hang_mid_stream(), Step::text("at last")]);
    let waits = env.provider.script("behind", vec![Step::text("behind it")]);
    let start = |task: &str| json!({"kind": "worker", "workerId": "coder", "task": task});
    let first = client.call("task_start", &start(&key))["structuredContent"]["id"].clone();
    env.provider.wait_for_requests(&key, 1);
    let second = client.call("task_start", &start(&waits))["structuredContent"]["id"].clone();
    kill(runner(&env).expect("a runner"));
    let done = client.call("task_await", &json!({"taskIds": [first, second]}));
    let views = done["structuredContent"]["tasks"].as_array().cloned().unwrap_or_default();
    let texts: Vec<&Value> = views.iter().map(|view| &view["text"]).collect();
    assert_eq!(texts, ["at last", "behind it"], "{done:#}");
    let closed = || env.provider.requests(&key).entries[0].client_closed();
    eventually("the first try to be let go", Duration::from_secs(20), closed);
    let asked = env.provider.requests(&key).entries[1].last_user_text.clone();
    assert!(asked.contains("An earlier try at this was cut off"), "{asked}");
    assert_covered(&env, env.provider.ledger().total().cost);
}

#[test]
fn what_a_killed_runner_spent_counts_against_the_limit() {
    let env = yard("mcp-spent", "");
    env.run(&["budget", "configure", "--overall", "--daily-budget", "0.03"]).expect_code(0);
    let mut client = Client::start(&env, &[]);
    // Each has reserved more than half of the limit.
    let hangs = || Step::hang_mid_stream().usage(Tokens::new(1000, 500));
    let key = env.provider.script("spent", vec![hangs(), hangs()]);
    let start = json!({"kind": "worker", "workerId": "coder", "task": key});
    let id = client.call("task_start", &start)["structuredContent"]["id"].clone();
    env.provider.wait_for_requests(&key, 1);
    kill(runner(&env).expect("a runner"));
    let done = client.call("task_await", &json!({"taskId": id}));
    let view = &done["structuredContent"];
    assert_eq!((&view["status"], &view["error"]["class"]), (&json!("failed"), &json!("budget_refused")), "{done:#}");
    assert_eq!(env.provider.requests(&key).entries.len(), 1, "it was not asked again");
    assert_covered(&env, env.provider.ledger().total().cost);
}

#[test]
fn what_is_cancelled_while_nobody_carries_it_out_ends_too() {
    let env = yard("mcp-nobody", "");
    let mut client = Client::start(&env, &[]);
    let key = env.provider.script("hung", vec![Step::hang_mid_stream()]);
    let id = client.call("task_start", &json!({"kind": "worker", "workerId": "coder", "task": key}));
    let id = id["structuredContent"]["id"].clone();
    env.provider.wait_for_requests(&key, 1);
    kill(runner(&env).expect("a runner"));
    let cancelled = client.call("task_cancel", &json!({"taskId": id}));
    assert_eq!(cancelled["structuredContent"]["status"], "cancelled", "{cancelled:#}");
    eventually("the model to be let go", Duration::from_secs(20), || {
        env.provider.requests(&key).entries[0].client_closed()
    });
    assert_eq!(env.provider.requests(&key).entries.len(), 1, "it was not begun again");
}

#[test]
fn a_workflow_plans_builds_reviews_and_mends() {
    let env = yard("mcp-flow", "");
    let file = env.project().join("made.txt");
    let write = |text: &str| Step::tool("write", json!({"filePath": file, "content": text}));
    let verdict = Step::structured(json!({"approved": false, "findings": "made.txt:1 should say good"}));
    let steps = vec![
        Step::text("write made.txt"),
        write("bad"),
        Step::text("written"),
        verdict,
        write("good"),
        Step::text("mended"),
    ];
    let key = env.provider.script("flow", steps);
    let mut client = Client::start(&env, &[]);
    let started = client.call("task_start", &json!({"kind": "workflow", "task": key}));
    let id = started["structuredContent"]["id"].clone();
    assert!(
        started["structuredContent"]["notes"].to_string().contains("review: architect on scripted/beta"),
        "{started:#}"
    );
    let done = client.call("task_await", &json!({"taskId": id}));
    let view = &done["structuredContent"];
    assert_eq!((&view["status"], &view["text"]), (&json!("done"), &json!("mended")), "{done:#}");
    let names: Vec<&Value> = view["steps"].as_array().expect("steps").iter().map(|step| &step["name"]).collect();
    assert_eq!(names, ["plan", "implement", "review", "fix"]);
    assert_eq!(std::fs::read_to_string(&file).expect("a file"), "good");
    let asked: Vec<String> = env.provider.requests(&key).entries.iter().map(|entry| entry.model.clone()).collect();
    assert_eq!(asked, ["beta", "alpha", "alpha", "beta", "alpha", "alpha"], "each step on the model of its profile");
    let last = env.provider.requests(&key).entries[4].last_user_text.clone();
    assert!(last.contains("made.txt:1 should say good") && last.contains("## plan"), "{last}");
    let cost: f64 = env.provider.requests(&key).total().cost.as_usd();
    assert!((view["costUsd"].as_f64().expect("a cost") - cost).abs() < 1e-9, "{cost} {done:#}");
}

#[test]
fn a_workflow_pauses_and_goes_on_after_everything_was_killed() {
    let env = yard("mcp-pause", "jobs.carry_chars = 40");
    let steps = vec![
        Step::text("p".repeat(100)),
        Step::text("built"),
        Step::structured(json!({"approved": true, "findings": ""})),
    ];
    let key = env.provider.script("paused", steps);
    let mut client = Client::start(&env, &[]);
    let started = client.call("task_start", &json!({"kind": "workflow", "task": key, "pauseEachStep": true}));
    let id = started["structuredContent"]["id"].clone();
    let go_on = json!({"kind": "workflow", "runId": id});
    for finished in 1..=2 {
        let paused = client.call("task_await", &json!({"taskId": id}));
        let view = &paused["structuredContent"];
        assert_eq!(
            (&view["status"], view["steps"].as_array().map(Vec::len)),
            (&json!("paused"), Some(finished)),
            "{paused:#}"
        );
        kill(runner(&env).expect("a runner"));
        drop(client);
        client = Client::start(&env, &[]);
        let continued = client.call("task_start", &go_on);
        assert_eq!(continued["isError"], false, "{continued:#}");
    }
    let done = client.call("task_await", &json!({"taskId": id}));
    let view = &done["structuredContent"];
    assert_eq!(view["status"], "done", "{done:#}");
    assert!(view["warnings"].to_string().contains("60 characters of earlier answers were left out"), "{done:#}");
    assert!(view["warnings"].to_string().contains("review found the work good"), "the fix was not needed: {done:#}");
    assert_eq!(env.provider.requests(&key).entries.len(), 3, "no step was done twice");
    let again = client.call("task_start", &go_on);
    assert_eq!(again["isError"], true, "{again:#}");
}

#[test]
fn a_supervised_task_is_seen_through_without_a_supervisor() {
    let env = yard("mcp-supervised", "[supervise]\nadaptive = false\ndisk_reserve_mib = 1\n");
    let git = |args: &[&str]| {
        let run = std::process::Command::new("git").arg("-C").arg(env.project()).args(args).output().expect("git");
        assert!(run.status.success(), "{args:?}");
    };
    git(&["config", "user.name", "Ann"]);
    git(&["config", "user.email", "ann@example.org"]);
    std::fs::write(env.project().join("README"), "first\n").expect("a file");
    git(&["add", "-A"]);
    git(&["commit", "-qm", "first"]);
    let key = env.provider.script(
        "seen",
        vec![Step::tool("bash", json!({"command": "echo x > made.txt", "description": "x"})), Step::text("made")],
    );
    let mut client = Client::start(&env, &[]);
    let start = json!({"kind": "supervised", "task": key, "model": "scripted/alpha", "verify": ["test -f made.txt"]});
    let started = client.call("task_start", &start);
    let id = started["structuredContent"]["id"].clone();
    assert_eq!(id, "t001", "{started:#}");
    let mut result = client.call("task_await", &json!({"taskId": id}));
    if result["structuredContent"]["timedOut"] == true {
        result = client.call("task_await", &json!({"taskId": id}));
    }
    assert_eq!(result["structuredContent"]["status"], "done", "{result:#}");
    git(&["show", "shuntyard/t001:made.txt"]);
    assert!(!env.project().join("made.txt").exists(), "the checkout is untouched");
}
