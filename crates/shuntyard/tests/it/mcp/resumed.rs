//! A worker after its server, or every process of ours, has ended: its model, its policy and its conversation are kept.

use crate::mcp::{client::Client, own_env};
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::TestEnv;
use std::time::Duration;

pub(super) fn yard(name: &str) -> TestEnv {
    let env = own_env(name);
    env.write_config("[profiles]\ncoder = \"scripted/alpha\"\ndocs = \"scripted/alpha\"\n");
    env
}

pub(super) fn client(env: &TestEnv) -> Client {
    Client::start(env, &["--tools", "tasks"])
}

/// The end of a message, and the model that was asked.
#[track_caller]
pub(super) fn said(env: &TestEnv, client: &mut Client, worker: &str, answer: &str, more: Value) -> (Value, String) {
    // The longest key that a text has decides, and a record of the conversation has the earlier ones too.
    let key = env.provider.script(&answer.replace(' ', "-"), vec![Step::text(answer)]);
    let mut order = json!({"kind": "worker", "workerId": worker, "task": format!("message {key}")});
    order.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let started = client.call("task_start", &order);
    assert_eq!(started["isError"], false, "{started:#}");
    let ended = client.call("task_await", &json!({"taskId": started["structuredContent"]["id"]}));
    let ended = ended["structuredContent"].clone();
    assert_eq!(ended["status"], "done", "{ended:#}");
    (ended, env.provider.requests(&key).entries[0].model.clone())
}

pub(super) fn listed(env: &TestEnv) -> Value {
    env.run(&["worker", "list", "--json"]).expect_code(0).json()["workers"].clone()
}

/// Every process that works for this environment ends at once, as when the machine does.
fn end_everything(env: &TestEnv) {
    let home = env.variables().find(|(name, _)| *name == "HOME").map(|(_, home)| home.clone()).expect("a home");
    shuntyard_host::tree::end_marked("HOME", &home, Duration::ZERO);
}

fn survives(backend: &str) {
    let env = yard(&format!("mcp-resumed-{backend}"));
    let mut asking = client(&env);
    let sticky = json!({"model": "scripted/beta", "modelPolicy": "sticky", "backend": backend});
    let (first, model) = said(&env, &mut asking, "coder", "the gate is green", sticky);
    assert_eq!(model, "beta");
    drop(asking);
    env.stop_servers();
    let asleep = &listed(&env)[0];
    assert_eq!(
        (&asleep["id"], &asleep["state"], &asleep["policy"]),
        (&json!("coder"), &json!("asleep"), &json!("sticky"))
    );
    let mut asking = client(&env);
    for round in ["after its server", "after everything"] {
        let (next, model) = said(&env, &mut asking, "coder", round, json!({}));
        assert_eq!((&next["worker"], &next["sessionId"]), (&json!("coder"), &first["sessionId"]), "{round}: {next:#}");
        assert_eq!(model, "beta", "{round}");
        assert!(!next["warnings"].to_string().contains("was lost"), "{round}: {next:#}");
        let asked = format!("{:?}", env.provider.ledger().entries.last().expect("a request").messages);
        assert!(asked.contains("the gate is green"), "{round}: the model reads what was said: {asked}");
        drop(asking);
        end_everything(&env);
        asking = client(&env);
    }
    let workers = listed(&env);
    assert_eq!(workers.as_array().map(Vec::len), Some(1), "{workers:#}");
    assert_eq!(
        (&workers[0]["model"], &workers[0]["policy"]),
        (&json!("scripted/beta"), &json!("sticky")),
        "{workers:#}"
    );
    assert_eq!(workers[0]["session"], first["sessionId"], "{workers:#}");
}

#[test]
fn a_worker_on_a_shared_server_survives() {
    survives("agent");
}

#[test]
fn a_worker_on_its_own_server_survives() {
    survives("server");
}

#[test]
fn a_conversation_that_is_lost_is_told_again_and_that_is_reported() {
    let env = yard("mcp-recap");
    let mut asking = client(&env);
    let (first, _) = said(&env, &mut asking, "docs", "the gate is green", json!({}));
    env.stop_servers();
    for entry in walk(&env.data_dir()) {
        if entry.extension().is_some_and(|kind| kind == "db") && !entry.ends_with("shuntyard.db") {
            std::fs::remove_file(entry).expect("removed");
        }
    }
    let (next, _) = said(&env, &mut asking, "docs", "I go on from what was said before", json!({}));
    assert_ne!(next["sessionId"], first["sessionId"], "{next:#}");
    assert!(next["warnings"].to_string().contains("was lost; a new one began with a summary"), "{next:#}");
    let asked = format!("{:?}", env.provider.ledger().entries.last().expect("a request").messages);
    assert!(asked.contains("the gate is green") && asked.contains("The message now is"), "{asked}");
    let (third, _) = said(&env, &mut asking, "docs", "and on", json!({}));
    assert_eq!(third["sessionId"], next["sessionId"], "{third:#}");
    assert!(!third["warnings"].to_string().contains("was lost"), "{third:#}");
}

fn walk(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        if entry.path().is_dir() { found.extend(walk(&entry.path())) } else { found.push(entry.path()) }
    }
    found
}
