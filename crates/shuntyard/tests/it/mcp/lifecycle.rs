//! How a server over pipes begins and ends, and that it writes nothing else than the protocol.

use crate::mcp::{client::Client, env, own_env};
use serde_json::json;

#[test]
fn it_says_who_it_is_and_ends_with_its_input() {
    let client = Client::start(env(), &[]);
    assert_eq!(client.server["serverInfo"]["name"], "shuntyard");
    assert_eq!(client.server["protocolVersion"], "2025-06-18");
    assert!(client.server["capabilities"]["tools"].is_object());
    let ended = client.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_client_that_says_nothing_is_no_failure() {
    let ended = Client::silent(env(), &[]).close();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn it_ends_cleanly_when_it_is_told_to() {
    let ended = Client::start(env(), &[]).terminate();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
}

#[test]
fn what_is_no_message_does_not_end_it() {
    let mut client = Client::start(env(), &[]);
    client.send_line("this is no JSON");
    client.send_line("[]");
    let answer = client.request("no/such/method", &json!({}));
    assert_eq!(answer["error"]["code"], -32601, "{answer}");
    assert!(client.request("ping", &json!({}))["result"].is_object());
}

#[test]
fn a_log_that_was_asked_for_stays_short() {
    let mut env = own_env("mcp-log");
    env.set("SHUNTYARD_LOG", "trace");
    let mut client = Client::start(&env, &[]);
    client.call("task_list", &json!({}));
    let ended = client.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "no more than warnings reach the screen");
}

#[test]
fn a_wait_does_not_outlive_its_client() {
    let env = own_env("mcp-gone");
    let key = env.provider.script("gone", vec![shuntyard_scripted::Step::hang_before_first_byte()]);
    let mut client = Client::start(&env, &[]);
    let started = client.call("task_start", &json!({"kind": "dispatch", "task": key, "model": "scripted/alpha"}));
    let id = started["structuredContent"]["id"].clone();
    client.ask_with_progress("task_await", &json!({"taskId": id}), "t");
    client.find("progress", |message| message["method"] == "notifications/progress");
    let ended = client.close();
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""));
    let mut again = Client::start(&env, &[]);
    let view = again.call("task_peek", &json!({"taskId": id}));
    assert_eq!(view["structuredContent"]["over"], false, "the job goes on: {view:#}");
    again.call("task_cancel", &json!({"taskId": id}));
}
