//! Permissions that an agent asks a person for: stored, shown, announced, answered once, and survived.

use crate::{
    mcp::client::{Client, expect_refusal, text},
    supervise::Yard,
};
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::{environment::finish, eventually};
use std::time::Duration;

/// A place whose OpenCode asks before every command.
fn yard(name: &str, wait: &str) -> Yard {
    let yard = Yard::with(
        &format!("permissions-{name}"),
        &format!(
            "notify_command = \"cat >> $HOME/notices; echo >> $HOME/notices\"\n[permissions]\nask = \"park\"\nwait = \"{wait}\"\n"
        ),
    );
    let mut config = yard.env.opencode_config();
    config["permission"] = json!({"bash": "ask"});
    yard.env.write_opencode_config(config);
    yard
}

fn bash(command: &str) -> Step {
    Step::tool("bash", json!({"command": command, "description": "work"}))
}

fn add(yard: &Yard, steps: Vec<Step>) -> (String, String) {
    let key = yard.env.provider.script("ask", steps);
    (yard.add(&[&format!("work {key}"), "--model", "scripted/alpha"]), key)
}

/// The task once it asks for this command.
fn asking(yard: &Yard, id: &str, command: &str) -> Value {
    let mut task = Value::Null;
    eventually(&format!("{id} to ask for {command}"), Duration::from_secs(120), || {
        task = yard.task(id);
        task["request"]["pattern"] == command
    });
    task
}

fn answer(yard: &Yard, id: &str, args: &[&str]) -> shuntyard_testkit::Outcome {
    yard.env.run(&[&["task", "answer", id], args].concat())
}

fn notices(yard: &Yard) -> Vec<Value> {
    let home = yard.env.variables().find(|(name, _)| *name == "HOME").map(|(_, home)| home.clone()).expect("a home");
    let text = std::fs::read_to_string(std::path::Path::new(&home).join("notices")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn kill(pid: &Value) {
    let pid = pid.as_i64().expect("a process").to_string();
    assert!(std::process::Command::new("kill").args(["-9", &pid]).status().expect("kill").success());
}

#[test]
fn a_request_waits_for_its_answer_and_is_answered_once() {
    let yard = yard("waits", "30m");
    let (id, key) = add(&yard, vec![bash("echo yes > made.txt"), bash("echo no > more.txt"), Step::text("done")]);
    let supervisor = yard.env.spawn(&["supervise", "--until-idle"]);
    let task = asking(&yard, &id, "echo yes > made.txt");
    assert_eq!((&task["phase"], &task["state"]), (&json!("waiting"), &json!("asking")), "{task:#}");
    assert_eq!(task["request"]["permission"], "bash");
    let first = task["request"]["id"].as_str().expect("an id").to_owned();
    assert!(task["request"]["until"].as_str().is_some_and(|until| until.ends_with('Z')), "{task:#}");
    let status = yard.env.run(&["status", "--json"]).json();
    assert_eq!(status["needs_attention"][0]["request"], task["request"], "{status:#}");
    assert_eq!(
        (status["held"].as_array().map(Vec::len), status["running"].as_array().map(Vec::len)),
        (Some(1), Some(0))
    );
    let left = status["held"][0]["why"].as_str().and_then(|why| why.rsplit_once("within ")).expect("a deadline").1;
    assert!(shuntyard_core::values::duration::parse(left).is_ok(), "as people write it: {left}");
    assert!(yard.env.run(&["status"]).stderr.contains(&format!("task answer {id} allow|always|deny")));
    assert_eq!(status["supervisor"], json!({"running": true}), "{status:#}");
    let next = yard.env.run(&["--json"]).expect_code(0).json();
    assert_eq!(next["next"], json!({"command": "shuntyard status", "reason": "1 task waits for a permission"}));
    eventually("the notice", Duration::from_secs(60), || {
        notices(&yard).iter().any(|notice| notice["notice"] == "permission" && notice["task"] == id.as_str())
    });
    // The death of a supervisor loses no request.
    let mut supervisor = supervisor;
    supervisor.kill().expect("killed");
    supervisor.wait().expect("ended");
    assert_eq!(yard.env.run(&["status", "--json"]).json()["supervisor"], json!({"running": false}));

    answer(&yard, &id, &["allow", "--request", "per_other"]).expect_code(3);
    answer(&yard, &id, &["perhaps"]).expect_code(2);
    let from_an_agent = [("SHUNTYARD_OUTER", "{}")];
    yard.env.run_with(&from_an_agent, &["task", "answer", &id, "allow"]).expect_code(3);
    let dry = answer(&yard, &id, &["allow", "--dry-run"]);
    assert!(dry.expect_code(0).stdout.contains("would be answered allow: bash echo yes"), "{}", dry.stdout);
    assert_eq!(yard.task(&id)["request"]["id"], first.as_str());
    answer(&yard, &id, &["allow", "--request", &first]).expect_code(0);
    // The second request of the same task is another one: the same order again does not answer it.
    let task = asking(&yard, &id, "echo no > more.txt");
    answer(&yard, &id, &["allow", "--request", &first]).expect_code(3);
    assert_eq!(yard.task(&id)["request"], task["request"]);
    let denied = answer(&yard, &id, &["deny", "--json"]);
    assert_eq!(denied.expect_code(0).json()["phase"], "running");
    yard.settle();
    answer(&yard, &id, &["allow"]).expect_code(3);
    let task = yard.task(&id);
    assert_eq!((&task["phase"], &task["request"]), (&json!("done"), &Value::Null), "{task:#}");
    assert_eq!(task["attempts"].as_array().map(Vec::len), Some(1), "{task:#}");
    let branch = format!("shuntyard/{id}");
    assert_eq!(yard.git(&["ls-tree", "--name-only", &branch]), "README\nmade.txt");
    let said = format!("{:?}", yard.env.provider.requests(&key).entries[2].messages);
    assert!(said.contains("The user denied this"), "{said}");
    let log = yard.env.run(&["task", "log", &id]).stdout;
    assert!(log.contains("answered allow: bash echo yes > made.txt"), "{log}");
}

#[test]
fn without_an_answer_the_agent_goes_on_after_the_deadline() {
    let yard = yard("deadline", "1s");
    let (id, key) = add(
        &yard,
        vec![
            bash("echo no > made.txt"),
            Step::tool("write", json!({"filePath": "w.txt", "content": "w"})),
            Step::text("done"),
        ],
    );
    yard.settle();
    assert_eq!(yard.phase(&id), "done");
    assert_eq!(yard.git(&["ls-tree", "--name-only", &format!("shuntyard/{id}")]), "README\nw.txt");
    let said = format!("{:?}", yard.env.provider.requests(&key).entries[1].messages);
    assert!(said.contains("Nobody answered"), "{said}");
    let late = answer(&yard, &id, &["allow"]);
    assert!(late.expect_code(3).stderr.contains("waits for no permission"), "{late:?}");
}

#[test]
fn requests_at_the_same_moment_are_answered_one_after_the_other() {
    let yard = yard("two", "30m");
    let two = bash("echo a > a.txt").and_tool("bash", json!({"command": "echo b > b.txt", "description": "work"}));
    let (id, _) = add(&yard, vec![two, Step::text("done")]);
    let supervisor = yard.env.spawn(&["supervise", "--until-idle"]);
    let mut answered: Vec<Value> = Vec::new();
    for _ in 0..2 {
        let mut request = Value::Null;
        eventually("another request", Duration::from_secs(120), || {
            request = yard.task(&id)["request"].clone();
            request.is_object() && !answered.contains(&request["id"])
        });
        answer(&yard, &id, &["allow", "--request", request["id"].as_str().expect("an id")]).expect_code(0);
        answered.push(request["id"].clone());
    }
    finish(supervisor).expect_code(0);
    assert_eq!(yard.git(&["ls-tree", "--name-only", &format!("shuntyard/{id}")]), "README\na.txt\nb.txt");
}

#[test]
fn always_holds_for_the_rest_of_the_task() {
    let yard = yard("always", "30m");
    let again = || bash("echo x >> made.txt");
    let (id, _) = add(&yard, vec![again(), again(), Step::text("done")]);
    let supervisor = yard.env.spawn(&["supervise", "--until-idle"]);
    asking(&yard, &id, "echo x >> made.txt");
    answer(&yard, &id, &["always"]).expect_code(0);
    finish(supervisor).expect_code(0);
    assert_eq!(yard.git(&["show", &format!("shuntyard/{id}:made.txt")]), "x\nx");
}

#[test]
fn an_answer_survives_the_worker_that_asked() {
    let yard = yard("killed", "30m");
    let command = "echo x > made.txt";
    let (id, _) = add(&yard, vec![bash(command), bash(command), Step::text("done")]);
    yard.env.run(&["pulse"]).expect_code(0);
    asking(&yard, &id, command);
    kill(&yard.env.run(&["task", "why", &id, "--json"]).json()["holder"]["pid"]);
    // The death is not noticed yet: the answer is stored, and the next attempt, whose agent asks for the same, gets it.
    answer(&yard, &id, &["allow"]).expect_code(0);
    yard.settle();
    let task = yard.task(&id);
    assert_eq!(task["phase"], "done", "{task:#}");
    let outcomes: Vec<&Value> = task["attempts"].as_array().expect("tries").iter().map(|one| &one["outcome"]).collect();
    assert_eq!(outcomes, ["lost", "approved"], "{task:#}");
    assert_eq!(yard.git(&["show", &format!("shuntyard/{id}:made.txt")]), "x");
}

#[test]
fn a_server_that_is_gone_withdraws_its_request() {
    let yard = yard("server", "30m");
    let command = "echo x > made.txt";
    let (id, _) = add(&yard, vec![bash(command), bash(command), Step::text("done")]);
    let supervisor = yard.env.spawn(&["supervise", "--until-idle"]);
    let first = asking(&yard, &id, command);
    // The server ends with its keeper.
    kill(&yard.env.servers()[0]["keeper_pid"]);
    eventually("another request", Duration::from_secs(120), || {
        let request = yard.task(&id)["request"].clone();
        request.is_object() && request["id"] != first["request"]["id"]
    });
    answer(&yard, &id, &["allow"]).expect_code(0);
    finish(supervisor).expect_code(0);
    let task = yard.task(&id);
    assert_eq!(
        (&task["phase"], &task["attempts"][0]["failure_mode"]),
        (&json!("done"), &json!("ENVIRONMENT")),
        "{task:#}"
    );
}

#[test]
fn a_task_that_asks_can_be_cancelled() {
    let yard = yard("cancel", "30m");
    let (id, _) = add(&yard, vec![bash("echo x > made.txt"), Step::text("done")]);
    yard.env.run(&["pulse"]).expect_code(0);
    asking(&yard, &id, "echo x > made.txt");
    yard.env.run(&["task", "cancel", &id, "--wait"]).expect_code(0);
    let task = yard.task(&id);
    assert_eq!((&task["phase"], &task["request"]), (&json!("cancelled"), &Value::Null), "{task:#}");
}

#[test]
fn a_client_answers_for_its_own_directory_only() {
    let yard = yard("client", "30m");
    let (id, _) = add(&yard, vec![bash("echo x > made.txt"), Step::text("done")]);
    let supervisor = yard.env.spawn(&["supervise", "--until-idle"]);
    asking(&yard, &id, "echo x > made.txt");
    let order = |answer: &str| json!({"kind": "op", "op": "task.answer", "taskId": id, "answer": answer});
    let elsewhere = yard.env.repository("elsewhere");
    let mut stranger = Client::start(&yard.env, &["--directory", &elsewhere.to_string_lossy()]);
    expect_refusal(&stranger.call("task_start", &order("allow")), "outside of the directory");
    let mut client = Client::start(&yard.env, &["--tools", "tasks"]);
    let peeked = client.call("task_peek", &json!({"taskId": id}));
    assert!(text(&peeked).contains("waits for permission: bash echo x > made.txt"), "{peeked:#}");
    let answered = client.call("task_start", &order("allow"));
    assert!(text(&answered).contains("allow: bash echo x > made.txt"), "{answered:#}");
    finish(supervisor).expect_code(0);
    assert_eq!(yard.phase(&id), "done");
    expect_refusal(&client.call("task_start", &order("allow")), "waits for no permission");
}
