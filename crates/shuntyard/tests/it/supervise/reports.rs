//! What a person reads afterwards: the status, the report, the history, a diff and a transcript.

use super::Yard;
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::eventually;
use std::{
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    time::Duration,
};

fn write(file: &str, text: &str) -> Step {
    Step::tool("write", json!({"filePath": file, "content": text}))
}

fn add(yard: &Yard, name: &str, steps: Vec<Step>, more: &[&str]) -> String {
    let key = yard.env.provider.script(name, steps);
    yard.add(&[&[format!("work {key}").as_str(), "--model", "scripted/alpha"], more].concat())
}

#[test]
fn failed_tasks_need_attention_and_the_total_is_that_of_all_tasks() {
    let yard = Yard::new("reports-status");
    let done = add(&yard, "good", vec![write("a.txt", "a\n"), Step::text("done")], &[]);
    let failed =
        add(&yard, "bad", vec![write("b.txt", "b\n"), Step::text("done")], &["--verify", "false", "--attempts", "1"]);
    yard.settle();
    assert_eq!((yard.phase(&done).as_str(), yard.phase(&failed).as_str()), ("done", "failed"));
    let status = yard.env.run(&["status", "--json"]).expect_code(0).json();
    let needs: Vec<&Value> =
        status["needs_attention"].as_array().expect("tasks").iter().map(|task| &task["id"]).collect();
    assert_eq!(needs, [&json!(failed)], "{status:#}");
    assert_eq!(status["needs_attention"][0]["phase"], "failed");
    assert_eq!(status["supervisor"], json!({"running": false}));
    let cost = |id: &str| yard.task(id)["cost_usd"].as_f64().expect("a cost");
    let total = status["totals"]["cost_usd"].as_f64().expect("a total");
    assert!(total > 0.0 && (total - cost(&done) - cost(&failed)).abs() < 1e-9, "{status:#}");
    let people = yard.env.run(&["status"]);
    assert!(people.stdout.contains(&failed) && people.stdout.contains("in total"), "{}", people.stdout);
    assert!(people.stderr.contains("no supervisor runs"), "{}", people.stderr);
}

#[test]
fn a_report_a_history_a_diff_and_a_transcript_say_what_was_done() {
    let yard = Yard::new("reports-all");
    let secret = "sk-proj-abc123DEF456";
    let steps = vec![
        write("a.txt", "one\ntwo\n"),
        Step::tool("bash", json!({"command": format!("echo {secret}"), "description": "look"})),
        Step::text("I wrote a.txt."),
    ];
    let merged = add(&yard, "merged", steps, &["--deliver", "merge"]);
    let failed =
        add(&yard, "bad", vec![write("b.txt", "b\n"), Step::text("done")], &["--verify", "false", "--attempts", "1"]);
    yard.settle();
    let report = yard.env.run(&["report", "--since", "12h", "--json"]).expect_code(0).json();
    let ids = |key: &str| -> Vec<String> {
        let tasks = report[key].as_array().expect("a list").iter();
        tasks.map(|task| task["id"].as_str().expect("an id").to_owned()).collect()
    };
    assert_eq!(
        (ids("done"), ids("failed"), ids("delivered")),
        (vec![merged.clone()], vec![failed.clone()], vec![merged.clone()])
    );
    assert_eq!(report["delivered"][0]["commit"], yard.git(&["rev-parse", "main"]).as_str(), "{report:#}");
    assert!(report["cost_usd"].as_f64().is_some_and(|cost| cost > 0.0), "{report:#}");
    assert!(report["since"].as_str().is_some_and(|since| since.ends_with('Z')), "{report:#}");
    let people = yard.env.run(&["report"]).stdout;
    assert!(people.contains(&merged) && people.contains("FAILED"), "{people}");

    let history = yard.env.run(&["history", "--json"]).expect_code(0).json();
    let dispatches = history["dispatches"].as_array().expect("dispatches");
    assert_eq!(dispatches.len(), 2, "{history:#}");
    let at = |index: usize| dispatches[index]["at"].as_str().expect("a moment");
    assert!(at(0) >= at(1), "the newest first: {history:#}");
    assert!(yard.env.run(&["history", "--limit", "1"]).stdout.contains("scripted/alpha"));

    let diff = yard.env.run(&["task", "diff", &merged]);
    assert!(diff.expect_code(0).stdout.contains("+++ b/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two"), "{}", diff.stdout);
    // What was refused is only in its workspace.
    assert!(
        yard.env.run(&["task", "diff", &failed, "--json"]).expect_code(0).json()["diff"].to_string().contains("+b")
    );
    let queued = yard.add(&["later", "--model", "scripted/alpha"]);
    assert!(yard.env.run(&["task", "diff", &queued]).expect_code(3).stderr.contains("no work of"));
    yard.env.run(&["task", "cancel", &queued]).expect_code(0);

    // The session is deleted by now.
    let transcript = yard.env.run(&["task", "log", &merged, "--transcript", "--json"]).expect_code(0).json();
    let steps = transcript["transcript"][0]["steps"].as_array().expect("steps");
    let tools: Vec<&str> = steps.iter().filter_map(|step| step["tool"].as_str()).collect();
    assert_eq!(tools, ["write", "bash"], "{transcript:#}");
    assert_eq!(steps.last().expect("a step")["text"], "I wrote a.txt.", "{transcript:#}");
    let moment = steps[0]["at"].as_str().and_then(|at| at.parse::<jiff::Timestamp>().ok());
    assert!(moment.is_some(), "a time as in all other documents: {transcript:#}");
    assert!(!transcript.to_string().contains(secret), "{transcript:#}");
    let people = yard.env.run(&["task", "log", &merged, "--transcript"]).stdout;
    assert!(people.contains("write: ") && people.contains("I wrote a.txt."), "{people}");
    let file = yard.env.data_dir().join(format!("tasks/{merged}/1.transcript"));
    assert_eq!(file.metadata().expect("the file").permissions().mode() & 0o777, 0o600);
}

#[test]
fn a_deadline_stops_the_work_and_no_task_starts_after_it() {
    let yard = Yard::new("reports-deadline");
    let stopped = yard.add(&["--command", "sleep 600; echo late > late.txt", "--deadline", "2s"]);
    yard.settle();
    let task = yard.task(&stopped);
    assert_eq!(task["phase"], "failed", "{task:#}");
    assert!(
        task["reason"].as_str().is_some_and(|reason| reason.starts_with("timeout: its deadline has passed")),
        "{task:#}"
    );
    assert!(task["attempts"].as_array().is_some_and(|attempts| attempts.len() <= 1), "{task:#}");
    let late = yard.add(&["--command", "echo late > late.txt", "--deadline", "1s"]);
    assert!(yard.task(&late)["deadline"].as_str().is_some_and(|at| at.ends_with('Z')));
    std::thread::sleep(Duration::from_millis(1100));
    yard.settle();
    let task = yard.task(&late);
    assert_eq!((&task["phase"], task["attempts"].as_array().map(Vec::len)), (&json!("failed"), Some(0)), "{task:#}");
    let past = yard.env.run(&["task", "add", "too late", "--deadline", "2020-01-01T00:00"]);
    assert!(past.expect_code(2).stderr.contains("in the past"), "{}", past.stderr);
}

#[test]
fn a_repository_is_also_known_by_its_remote() {
    let yard = Yard::with(
        "reports-remote",
        "[repository.\"https://git.example.org/ann/app\"]\nverify = \"true\"\ndeliver = \"merge\"\n",
    );
    yard.git(&["remote", "add", "origin", "git@git.example.org:ann/app.git"]);
    let id = yard.add(&["do it", "--model", "scripted/alpha"]);
    let task = yard.task(&id);
    assert_eq!((&task["verify"], &task["deliver"]), (&json!(["true"]), &json!("merge")), "{task:#}");
    yard.env.run(&["task", "cancel", &id]).expect_code(0);
}

#[test]
fn a_release_beside_a_supervisor_succeeds_and_bytes_are_shown_as_they_are() {
    let yard = Yard::new("reports-beside");
    let odd =
        yard.add(&["--command", r"printf 'caf\351\n' > latin.txt; printf 'a\000b' > data.bin", "--deliver", "merge"]);
    yard.settle();
    let diff = yard.env.command(&["task", "diff", &odd]).output().expect("a diff").stdout;
    let (base, patch) = (yard.env.root.join("base"), yard.env.root.join("work.patch"));
    std::fs::write(&patch, &diff).expect("a file");
    yard.git(&["worktree", "add", "-q", "--detach", &base.display().to_string(), "main~1"]);
    super::yard::git_in(&base, &["apply", &patch.display().to_string()]);
    assert_eq!(std::fs::read(base.join("latin.txt")).expect("the file"), b"caf\xe9\n");
    assert_eq!(std::fs::read(base.join("data.bin")).expect("the file"), b"a\0b");
    yard.git(&["worktree", "remove", "--force", &base.display().to_string()]);

    let id = yard.add(&["--command", "echo begun > begun.txt; exec sleep 600"]);
    let mut supervisor = yard.env.spawn(&["supervise"]);
    let begun = || yard.task(&id)["worktree"].as_str().is_some_and(|path| Path::new(path).join("begun.txt").exists());
    eventually("it runs", Duration::from_secs(30), begun);
    yard.env.run(&["release", &id, "--force"]).expect_code(0);
    eventually("another attempt", Duration::from_secs(30), || {
        yard.task(&id)["attempts"].as_array().is_some_and(|attempts| attempts.len() > 1)
    });
    yard.env.run(&["task", "cancel", &id, "--wait"]).expect_code(0);
    drop(supervisor.kill());
    drop(supervisor.wait());
}

#[test]
fn a_hung_worker_loses_its_task_and_what_is_over_is_pruned() {
    let yard = Yard::new("reports-release");
    let id = yard.add(&["--command", "echo begun > begun.txt; exec sleep 600"]);
    let begun = || yard.task(&id)["worktree"].as_str().is_some_and(|path| Path::new(path).join("begun.txt").exists());
    yard.pulse_until("it runs", begun);
    let refused = yard.env.run(&["release", &id]);
    assert!(refused.expect_code(3).stderr.contains("--force"), "{}", refused.stderr);
    let worker = yard.workers();
    assert_eq!(yard.env.run(&["release", &id, "--force", "--json"]).expect_code(0).json()["state"], "queued");
    assert!(yard.workers().iter().all(|pid| !worker.contains(pid)), "its worker was ended");
    yard.env.run(&["release", &id, "--force"]).expect_code(3);
    yard.env.run(&["task", "cancel", &id]).expect_code(0);
    let task = yard.task(&id);
    assert_eq!((&task["phase"], &task["attempts"][0]["outcome"]), (&json!("cancelled"), &json!("lost")), "{task:#}");

    let workspace = PathBuf::from(task["worktree"].as_str().expect("its workspace"));
    let logs = yard.env.data_dir().join("tasks").join(&id);
    let none = yard.env.run(&["prune", "--dry-run", "--json"]).expect_code(0).json();
    assert_eq!(none["tasks"], json!([]), "it is not old enough");
    let dry = yard.env.run(&["prune", "--older-than", "0s", "--dry-run", "--json"]).expect_code(0).json();
    assert_eq!((&dry["tasks"][0]["id"], &dry["tasks"][0]["worktree"]), (&json!(id), &json!(workspace)), "{dry:#}");
    assert!(dry["bytes"].as_u64().is_some_and(|bytes| bytes > 0) && workspace.exists() && logs.exists(), "{dry:#}");
    let done = yard.env.run(&["prune", "--older-than", "0s", "--json"]).expect_code(0).json();
    assert_eq!((&done["tasks"][0]["id"], &done["problems"]), (&json!(id), &json!([])), "{done:#}");
    assert!(!workspace.exists() && !logs.exists());
}
