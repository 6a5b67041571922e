//! Tasks on the command line: added, listed, run by a supervisor, changed, refused. Commands do the work here, so that
//! no model is needed.

mod batches;
mod orders;
mod refusals;

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_testkit::{TestEnv, eventually};
use std::{path::Path, process::Command, time::Duration};

const SOON: Duration = Duration::from_secs(60);

/// An environment whose project has a first commit on `main`.
pub fn yard(name: &str) -> TestEnv {
    let env = own_env(name);
    let project = env.project();
    git(&project, &["symbolic-ref", "HEAD", "refs/heads/main"]);
    commit(&project, "README.md", "hello\n");
    env
}

fn git(directory: &Path, args: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=Somebody", "-c", "user.email=somebody@localhost"])
        .args(args)
        .current_dir(directory)
        .output()
        .expect("git runs");
    assert!(output.status.success(), "git {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).trim().to_owned()
}

fn commit(directory: &Path, file: &str, text: &str) {
    std::fs::write(directory.join(file), text).expect("written");
    git(directory, &["add", "."]);
    git(directory, &["commit", "-q", "-m", file]);
}

/// Adds a task and returns its id.
pub fn add(env: &TestEnv, args: &[&str]) -> String {
    let added = env.run(&[&["task", "add", "--json"], args].concat());
    added.expect_code(0);
    added.json()["id"].as_str().expect("an id").to_owned()
}

fn show(env: &TestEnv, id: &str) -> Value {
    let shown = env.run(&["task", "show", id, "--json"]);
    shown.expect_code(0);
    shown.json()
}

fn phase(env: &TestEnv, id: &str) -> String {
    show(env, id)["phase"].as_str().expect("a phase").to_owned()
}

fn supervise(env: &TestEnv) {
    env.run(&["supervise", "--until-idle"]).expect_code(0);
}

#[test]
fn a_task_is_added_and_looks_the_same_everywhere() {
    let env = yard("task-shape");
    let first = env.run(&["task", "add", "Mend the parser"]);
    assert_eq!((first.code, first.stdout.as_str()), (Some(0), "t001\n"), "{}", first.stderr);
    let all = ["--id", "parser.2", "--verify", "true", "--verify", "test -f x", "--tier", "opus", "--need", "vision"];
    let more =
        ["--depends-on", "t001,later", "--priority", "-2", "--max-cost", "0.5", "--estimate", "2h", "--label", "a"];
    let rest =
        ["--allow-path", "src/**", "--deliver", "merge", "--attempts", "3", "--agent", "build", "--no-gate", "@w"];
    std::fs::write(env.project().join("w"), "Words from\na file\n").expect("written");
    assert_eq!(add(&env, &[&all[..], &more, &rest].concat()), "parser.2");
    let task = show(&env, "parser.2");
    let project = env.project().canonicalize().expect("there");
    let expected = json!({
        "id": "parser.2", "phase": "queued", "state": "queued", "reason": "", "description": "Words from\na file",
        "repo": project, "base": "main", "branch": null, "worktree": null, "batch": null,
        "depends_on": ["t001", "later"], "attempts": [], "cost_usd": 0.0, "receipt": null, "priority": -2,
        "tier": "opus", "model": null, "verify": ["true", "test -f x"], "labels": ["a"], "parent": "parser",
        "wakes_at": null, "needs": ["vision"], "max_cost_usd": 0.5, "estimate_seconds": 7200, "most_attempts": 3,
        "allow_paths": ["src/**"], "deliver": "merge", "gate": false, "agent": "build", "kind": "model",
        "open_blockers": 2,
    });
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&task[key], value, "{key} of {task:#}");
    }
    for moment in ["created_at", "changed_at"] {
        let text = task[moment].as_str().expect("a moment");
        assert!(text.len() > 19 && text.contains('T') && text.ends_with('Z'), "{text}");
    }
    let listed = env.run(&["task", "list", "--json"]).json();
    assert_eq!(listed["tasks"][1], task);
    assert_eq!(listed["tasks"].as_array().map(Vec::len), Some(2));
    let ids = |args: &[&str]| {
        let listed = env.run(&[&["task", "list", "--json"], args].concat()).json();
        let tasks = listed["tasks"].as_array().cloned().unwrap_or_default();
        tasks.iter().map(|task| task["id"].as_str().unwrap_or_default().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(ids(&["--limit", "1"]), ["t001"]);
    assert_eq!(ids(&["--phase", "done"]), Vec::<String>::new());
    assert_eq!(ids(&["--repo", "."]), ["t001", "parser.2"]);
    assert_eq!(ids(&["--repo", "/"]), Vec::<String>::new());
    let people = env.run(&["task", "list"]);
    assert!(
        people.stdout.contains("Mend the parser") && people.stdout.contains("waits for 2 others"),
        "{}",
        people.stdout
    );
    assert!(env.run(&["task", "show", "parser.2"]).stdout.contains("parser.2 is queued"));
}

#[test]
fn a_store_elsewhere_is_the_one_that_counts_although_the_usual_one_is_there() {
    let env = yard("tasks-elsewhere");
    let ids = |env: &TestEnv| -> Vec<String> {
        let listed = env.run(&["task", "list", "--json"]).expect_code(0).json();
        let tasks = listed["tasks"].as_array().expect("tasks").iter();
        tasks.map(|task| task["id"].as_str().expect("an id").to_owned()).collect()
    };
    add(&env, &["--command", "true", "--id", "here"]);
    let other = env.root.join("other.db");
    env.write_config(&format!("[store]\nurl = \"sqlite:{}\"\n", other.display()));
    assert_eq!(ids(&env), Vec::<String>::new());
    add(&env, &["--command", "true", "--id", "there"]);
    assert_eq!(ids(&env), ["there"]);
    env.write_config("");
    assert_eq!(ids(&env), ["here"]);
    // What is at the usual place does not matter then.
    let usual = env.data_dir().join("shuntyard.db");
    std::fs::write(&usual, "not a database").expect("written");
    env.run(&["task", "list"]).expect_code(4);
    env.write_config(&format!("[store]\nurl = \"sqlite:{}\"\n", other.display()));
    assert_eq!(ids(&env), ["there"]);
}

#[test]
fn many_are_added_or_none() {
    let env = yard("task-bulk");
    git(&env.project(), &["branch", "other"]);
    let bulk = |text: &str| env.run_with_input(&["task", "add", "--from", "-", "--json", "--label", "x"], text);
    let plain = bulk("first\nsecond\n");
    assert_eq!(plain.expect_code(0).json(), json!({"ids": ["t001", "t002"]}));
    let lines = bulk(
        "{\"description\": \"a\", \"id\": \"a\", \"base\": \"other\"}\n{\"description\": \"b\", \"depends_on\": \"a\"}\n",
    );
    assert_eq!(lines.expect_code(0).json(), json!({"ids": ["a", "t003"]}));
    let second = show(&env, "t003");
    assert_eq!(
        (&second["depends_on"], &second["labels"], &second["base"]),
        (&json!(["a"]), &json!(["x"]), &json!("main"))
    );
    let file = env.root.join("tasks.json");
    std::fs::write(&file, "[{\"description\": \"c\"}]").expect("written");
    let from_file = env.run(&["task", "add", "--from", &file.to_string_lossy()]);
    assert_eq!((from_file.code, from_file.stdout.as_str()), (Some(0), "t004\n"));
    let table = [
        (
            "{\"description\": \"d\"}\n{\"description\": \"e\", \"priorty\": 1}",
            "line 2: there is no key `priorty`; did you mean `priority`?",
        ),
        ("{\"description\": \"d\"}\n{\"description\": \"e\", \"id\": \"a\"}", "there is a task a already"),
        ("{\"description\": \"d\"}\n{\"description\": \"e\", \"batch\": \"none\"}", "there is no batch `none`"),
        ("{\"description\": \"d\"}\n{\"description\": \"e\", \"base\": \"nowhere\"}", "no branch or commit `nowhere`"),
        ("{\"description\": \"d\"}\n{\"tier\": \"opus\"}", "says nothing about what is to be done"),
        (
            "{\"description\": \"d\", \"id\": \"x\", \"depends_on\": \"y\"}\n{\"description\": \"e\", \"id\": \"y\", \"depends_on\": \"x\"}",
            "wait for each other",
        ),
        ("\n", "there is no task in it"),
    ];
    for (text, message) in table {
        let refused = bulk(text);
        refused.expect_code(2).expect_class("usage");
        assert!(refused.stdout.contains(message), "{text}: {}", refused.stdout);
    }
    assert_eq!(env.run(&["task", "list", "--json"]).json()["tasks"].as_array().map(Vec::len), Some(5));
    let dry = env.run(&["task", "add", "one more", "--dry-run", "--json"]);
    assert_eq!(dry.expect_code(0).json()["would_add"][0]["base"], "main");
    env.run(&["task", "add", "one more", "--id", "a", "--dry-run"]).expect_code(2);
    assert_eq!(env.run(&["task", "list", "--json"]).json()["tasks"].as_array().map(Vec::len), Some(5));
}

#[test]
fn a_command_in_place_is_done_by_a_pulse_and_a_false_one_fails() {
    let env = yard("task-place");
    let good = add(&env, &["--command", "echo done > here.txt", "--in-place"]);
    let bad = add(&env, &["--command", "echo no; false", "--in-place", "--attempts", "1"]);
    let dry = env.run(&["pulse", "--dry-run", "--json"]).json();
    assert_eq!(dry["started"][0], good.as_str());
    assert_eq!(phase(&env, &good), "queued");
    env.run(&["pulse"]).expect_code(0);
    eventually("the first is done", SOON, || phase(&env, &good) == "done");
    supervise(&env);
    let task = show(&env, &good);
    assert_eq!((&task["state"], &task["reason"]), (&json!("done"), &json!("the command succeeded")));
    assert_eq!((&task["receipt"]["good"], &task["receipt"]["task"]), (&json!(true), &json!(good)));
    assert_eq!((&task["branch"], &task["worktree"], &task["in_place"]), (&Value::Null, &Value::Null, &json!(true)));
    assert_eq!(std::fs::read_to_string(env.project().join("here.txt")).expect("written"), "done\n");
    let attempt = &task["attempts"][0];
    assert_eq!(
        (&attempt["epoch"], &attempt["outcome"], &attempt["failure_mode"]),
        (&json!(1), &json!("approved"), &Value::Null)
    );
    assert!(attempt["ended_at"].as_str() >= attempt["started_at"].as_str(), "{attempt:#}");
    let failed = show(&env, &bad);
    assert_eq!((&failed["phase"], &failed["receipt"]["good"]), (&json!("failed"), &json!(false)));
    let attempt = &failed["attempts"][0];
    assert_eq!((&attempt["outcome"], &attempt["failure_mode"]), (&json!("refused"), &json!("LOGIC")));
    assert!(failed["reason"].as_str().is_some_and(|reason| reason.contains("exit 1")), "{failed:#}");
    let why = env.run(&["task", "why", &bad, "--json"]).expect_code(0).json();
    assert_eq!((&why["holder"], &why["phase"]), (&Value::Null, &json!("failed")));
    assert!(why["why"].as_str().is_some_and(|why| why.contains("exit 1")), "{why:#}");
    let log = env.run(&["task", "log", &bad, "--json"]).json();
    let states: Vec<&str> =
        log["events"].as_array().expect("events").iter().filter_map(|event| event["to"].as_str()).collect();
    assert_eq!(states, ["queued", "starting", "running", "evaluating", "failed"]);
    assert!(log["logs"][0].as_str().is_some_and(|path| Path::new(path).exists()), "{log:#}");
    let followed = env.run(&["task", "log", &bad, "--follow", "--json"]);
    assert_eq!(followed.expect_code(0).stdout.lines().count(), states.len());
}

#[test]
fn work_in_a_worktree_ends_on_its_branch_and_the_parent_is_left_alone() {
    let env = yard("task-tree");
    let project = env.project();
    let head = git(&project, &["rev-parse", "HEAD"]);
    let id = add(&env, &["--command", "echo x > a.txt", "--verify", "test -f a.txt"]);
    supervise(&env);
    let task = show(&env, &id);
    assert_eq!((&task["phase"], &task["branch"]), (&json!("done"), &json!("shuntyard/t001")), "{task:#}");
    assert_eq!(git(&project, &["show", "shuntyard/t001:a.txt"]), "x");
    assert_eq!(git(&project, &["rev-parse", "shuntyard/t001"]), task["receipt"]["findings"]["head"]["commit"]);
    assert_eq!(git(&project, &["rev-parse", "HEAD"]), head);
    assert_eq!((git(&project, &["status", "--porcelain"]), project.join("a.txt").exists()), (String::new(), false));
    let verified = env.run(&["task", "verify", &id, "--json"]);
    let verified = verified.expect_code(0).json();
    assert_eq!((&verified["good"], &verified["checks"][0]["exit"]["code"]), (&json!(true), &json!(0)));
    assert_eq!(git(&project, &["worktree", "list"]).lines().count(), 1, "nothing is left of the checking");
    // Nothing was changed: that is no work, unless a flag allows it.
    let idle = add(&env, &["--command", "true", "--attempts", "1"]);
    let allowed = add(&env, &["--command", "true", "--no-gate"]);
    supervise(&env);
    assert_eq!((phase(&env, &idle), phase(&env, &allowed)), ("failed".to_owned(), "done".to_owned()));
    env.run(&["task", "verify", &idle]).expect_code(1);
}

#[test]
fn merged_work_is_in_the_base_and_what_depends_on_it_comes_later() {
    let env = yard("task-merge");
    let order = env.root.join("order.txt");
    let note = |word: &str| format!("echo {word} >> {}; echo {word} > {word}.txt", order.display());
    add(
        &env,
        &[
            "--id",
            "last",
            "--depends-on",
            "first",
            "--deliver",
            "merge",
            "--priority",
            "9",
            "--command",
            &note("last"),
            "--verify",
            "test -f first.txt",
        ],
    );
    let held = env.run(&["status", "--json"]).json();
    assert_eq!((&held["counts"]["queued"], &held["held"][0]["id"]), (&json!(1), &json!("last")));
    assert_eq!(held["held"][0]["why"], "depends on first, which does not exist");
    add(&env, &["--id", "first", "--deliver", "merge", "--command", &format!("sleep 0.3; {}", note("first"))]);
    supervise(&env);
    assert_eq!(std::fs::read_to_string(&order).expect("written"), "first\nlast\n");
    let task = show(&env, "last");
    assert_eq!(task["phase"], "done", "{task:#}");
    assert!(task["reason"].as_str().is_some_and(|reason| reason.starts_with("merged into main")), "{task:#}");
    let project = env.project();
    assert_eq!(git(&project, &["show", "main:first.txt"]), "first");
    assert_eq!(std::fs::read_to_string(project.join("last.txt")).expect("in the checkout"), "last\n");
    assert_eq!(git(&project, &["status", "--porcelain"]), "");
}

#[test]
fn the_next_try_begins_as_soon_as_the_last_has_ended() {
    let env = yard("task-again");
    env.write_config("[supervise]\nlook_every = \"10m\"\n");
    for _ in 0..8 {
        add(&env, &["--command", "false", "--in-place"]);
    }
    // The regular poll is far away: only a write can wake the supervisor.
    supervise(&env);
    let blocked = env.run(&["task", "list", "--json", "--phase", "blocked"]).json();
    let blocked = blocked["tasks"].as_array().cloned().unwrap_or_default();
    assert_eq!(blocked.len(), 8);
    for task in blocked {
        assert_eq!(task["attempts"].as_array().map(Vec::len), Some(2), "the same failure twice: {task:#}");
        assert!(task["reason"].as_str().is_some_and(|reason| reason.starts_with("parked")), "{task:#}");
    }
}
