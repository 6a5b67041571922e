//! The same from a shell: `shuntyard worker` and `shuntyard events`.

use crate::mcp::{client::Client, own_env};
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::TestEnv;
use std::io::{BufRead, BufReader};

fn yard(name: &str) -> TestEnv {
    let env = own_env(name);
    env.write_config("[profiles]\ncoder = \"scripted/alpha\"\n");
    env
}

fn work(env: &TestEnv, client: &mut Client, name: &str) -> Value {
    let key = env.provider.script(name, vec![Step::text("x")]);
    let started = client.call("task_start", &json!({"kind": "worker", "workerId": "coder", "task": key}));
    let id = started["structuredContent"]["id"].clone();
    client.call("task_await", &json!({"taskId": id}));
    let model = env.provider.requests(&key).entries[0].model.clone();
    json!({"id": id, "model": model})
}

#[test]
fn a_workers_model_is_changed_from_a_shell() {
    let env = yard("mcp-shell");
    let empty = env.run(&["worker", "list"]);
    empty.expect_code(0);
    assert!(empty.stdout.contains("there are no workers"), "{}", empty.stdout);
    let mut client = Client::start(&env, &[]);
    assert_eq!(work(&env, &mut client, "before")["model"], "alpha");
    let dry = env.run(&["worker", "model", "set", "coder", "scripted/beta", "--dry-run"]);
    assert!(dry.stdout.contains("coder would be on scripted/beta"), "{}", dry.stdout);
    assert_eq!(work(&env, &mut client, "dry")["model"], "alpha", "nothing was changed");
    let set = env.run(&["worker", "model", "set", "coder", "scripted/beta", "--json"]);
    set.expect_code(0);
    assert_eq!((&set.json()["model"], &set.json()["policy"]), (&json!("scripted/beta"), &json!("sticky")));
    assert_eq!(work(&env, &mut client, "after")["model"], "beta");
    let listed = env.run(&["worker", "list", "--json"]).json();
    assert_eq!(
        (&listed["workers"][0]["name"], &listed["workers"][0]["state"]),
        (&json!("coder"), &json!("idle")),
        "{listed:#}"
    );
    env.run(&["worker", "model", "reset", "coder"]).expect_code(0);
    assert_eq!(work(&env, &mut client, "reset")["model"], "alpha");
    let wrong = env.run(&["worker", "model", "set", "codr", "scripted/beta", "--json"]);
    wrong.expect_code(2);
    assert!(wrong.stdout.contains("did you mean `coder`?"), "{}", wrong.stdout);
    env.run(&["worker", "stop", "coder"]).expect_code(0);
    assert_eq!(env.run(&["worker", "list", "--json"]).json()["workers"], json!([]));
}

#[test]
fn every_change_can_be_followed_and_replayed() {
    let env = yard("mcp-events");
    let mut follower = env.spawn(&["events", "--follow", "--after", "0", "--kind", "job.", "--json", "--limit", "3"]);
    let mut client = Client::start(&env, &[]);
    let job = work(&env, &mut client, "told");
    let lines = BufReader::new(follower.stdout.take().expect("a pipe")).lines();
    let followed: Vec<Value> = lines.map(|line| serde_json::from_str(&line.expect("a line")).expect("JSON")).collect();
    assert!(follower.wait().expect("it ends").success());
    let kinds: Vec<&Value> = followed.iter().map(|event| &event["kind"]).collect();
    assert_eq!(kinds[..2], ["job.queued", "job.running"], "{followed:#?}");
    assert!(followed.iter().all(|event| event["version"] == 1 && event["subject"] == job["id"]), "{followed:#?}");
    let after = followed[0]["id"].to_string();
    let replay = env.run(&["events", "--after", &after, "--subject", job["id"].as_str().expect("an id"), "--json"]);
    replay.expect_code(0);
    let replayed: Vec<Value> = replay.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(replayed[0], followed[1], "the same event by its id");
    assert_eq!(replayed.last().map(|event| event["kind"].clone()), Some(json!("job.done")));
    env.run(&["events", "--after", "999999"]).expect_code(2);
    let people = env.run(&["events"]);
    people.expect_code(0);
    assert!(people.stdout.contains("worker.started"), "{}", people.stdout);
}
