//! The protocol's own tasks, for a client that has that extension.

use crate::mcp::{
    client::{Client, text},
    env,
};
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::TestEnv;

const EXTENSION: &str = "io.modelcontextprotocol/tasks";

fn client(env: &TestEnv) -> Client {
    Client::with_capabilities(env, &[], &json!({"extensions": {EXTENSION: {}}}))
}

#[track_caller]
fn created(client: &mut Client, prompt: &str) -> Value {
    let call = json!({"name": "dispatch", "arguments": {"prompt": prompt, "model": "scripted/alpha"}});
    let answer = client.request("tools/call", &call);
    let task = answer["result"].clone();
    assert!(task["taskId"].is_string() && task["status"] == "working", "{answer:#}");
    task
}

/// Polls a task until it is over.
#[track_caller]
fn finished(client: &mut Client, id: &Value) -> Value {
    // The tool that waits knows the same job.
    client.call("task_await", &json!({"taskId": id}));
    client.request("tasks/get", &json!({"taskId": id}))["result"].clone()
}

#[test]
fn it_is_offered_and_answers_with_what_the_call_would_have() {
    let mut client = client(env());
    assert!(client.server["capabilities"]["extensions"][EXTENSION].is_object(), "{}", client.server);
    let key = env().provider.script("extension", vec![Step::text("by and by")]);
    let task = created(&mut client, &key);
    assert!(task["pollIntervalMs"].is_u64() && task["ttlMs"].is_u64(), "{task:#}");
    let done = finished(&mut client, &task["taskId"]);
    assert_eq!(done["status"], "completed", "{done:#}");
    assert!(text(&done["result"]).starts_with("--- dispatch response from scripted/alpha ("), "{done:#}");
    assert_eq!(
        (&done["result"]["isError"], &done["result"]["structuredContent"]["text"]),
        (&json!(false), &json!("by and by"))
    );
}

#[test]
fn a_task_can_be_cancelled() {
    let mut client = client(env());
    let key = env().provider.script("extension-hangs", vec![Step::hang_before_first_byte()]);
    let task = created(&mut client, &key);
    let answer = client.request("tasks/cancel", &json!({"taskId": task["taskId"]}));
    assert!(answer["result"].is_object(), "{answer:#}");
    assert_eq!(finished(&mut client, &task["taskId"])["status"], "cancelled");
}

#[test]
fn a_task_that_fails_has_a_result_that_says_so() {
    let mut client = client(env());
    let key = env().provider.script("extension-fails", vec![Step::status(401)]);
    let task = created(&mut client, &key);
    let done = finished(&mut client, &task["taskId"]);
    assert_eq!((&done["status"], &done["result"]["isError"]), (&json!("completed"), &json!(true)), "{done:#}");
}

#[test]
fn unknown_tasks_and_clients_without_the_extension_are_refused() {
    let mut with = client(env());
    for method in ["tasks/get", "tasks/cancel"] {
        assert_eq!(with.request(method, &json!({"taskId": "j999999"}))["error"]["code"], -32602, "{method}");
    }
    let mut without = Client::start(env(), &[]);
    assert!(without.request("tasks/get", &json!({"taskId": "j1"}))["error"].is_object());
}
