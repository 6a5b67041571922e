//! Workers: which one takes a message, on which model, and in which order. The model that was really asked is read from
//! the provider's ledger.

use crate::mcp::{
    client::{Client, expect_refusal, text},
    own_env,
};
use serde_json::{Value, json};
use shuntyard_scripted::{Gate, Step};
use shuntyard_testkit::{DOT, TestEnv};

fn yard(name: &str) -> (TestEnv, Client) {
    let env = own_env(name);
    env.write_config(
        "[profiles]\ncoder = \"scripted/alpha\"\ndocs = \"scripted/alpha\"\nexplorer = \"scripted/beta\"\nvision = \"node:vision\"\n",
    );
    let client = Client::start(&env, &["--tools", "tasks"]);
    (env, client)
}

/// Starts a message and returns the immediate result.
#[track_caller]
fn tell(client: &mut Client, worker: &str, task: &str, more: Value) -> Value {
    let mut arguments = json!({"kind": "worker", "workerId": worker, "task": task});
    let fields = arguments.as_object_mut().expect("an object");
    fields.extend(more.as_object().expect("an object").clone());
    let started = client.call("task_start", &arguments);
    assert_eq!(started["isError"], false, "{started:#}");
    started["structuredContent"].clone()
}

#[track_caller]
fn ended(client: &mut Client, started: &Value) -> Value {
    let result = client.call("task_await", &json!({"taskId": started["id"]}));
    result["structuredContent"].clone()
}

/// Sends a message and waits; returns the result.
#[track_caller]
fn said(client: &mut Client, worker: &str, task: &str, more: Value) -> Value {
    let started = tell(client, worker, task, more);
    let done = ended(client, &started);
    assert_eq!(done["status"], "done", "{done:#}");
    done
}

fn models(env: &TestEnv, key: &str) -> Vec<String> {
    env.provider.requests(key).entries.iter().map(|entry| entry.model.clone()).collect()
}

/// The same test on both backends: they behave alike.
fn models_change_on_the_fly(backend: &str) {
    let (env, mut client) = yard(&format!("mcp-models-{backend}"));
    let key = |name: &str, answer: &str| env.provider.script(name, vec![Step::text(answer)]);
    let ask = |more: Value| {
        let mut more = more;
        more["backend"] = json!(backend);
        more
    };
    let first = key("first", "one");
    let done = said(&mut client, "coder", &first, ask(json!({})));
    assert_eq!((&done["text"], &done["worker"]), (&json!("one"), &json!("coder")));
    // For this message alone.
    let second = key("second", "two");
    let started = tell(&mut client, "coder", &second, ask(json!({"model": "scripted/beta"})));
    assert_eq!((&started["model"], &started["policy"]), (&json!("scripted/beta"), &json!("dynamic")), "{started:#}");
    ended(&mut client, &started);
    let third = key("third", "three");
    let after = said(&mut client, "coder", &third, ask(json!({})));
    assert_eq!(after["worker"], "coder", "the same worker all the time: {after:#}");
    // Until it is reset.
    let fourth = key("fourth", "four");
    let started = tell(&mut client, "coder", &fourth, ask(json!({"model": "scripted/odd", "modelPolicy": "sticky"})));
    assert_eq!(
        (&started["model"], &started["policy"], &started["worker"]),
        (&json!("scripted/odd"), &json!("sticky"), &json!("coder"))
    );
    ended(&mut client, &started);
    let fifth = key("fifth", "five");
    said(&mut client, "coder", &fifth, ask(json!({})));
    let reset = client.call("task_start", &json!({"kind": "op", "op": "worker.model.reset", "workerId": "coder"}));
    assert_eq!(reset["structuredContent"]["policy"], "dynamic", "{reset:#}");
    let sixth = key("sixth", "six");
    said(&mut client, "coder", &sixth, ask(json!({})));
    let asked: Vec<Vec<String>> =
        [&first, &second, &third, &fourth, &fifth, &sixth].iter().map(|key| models(&env, key)).collect();
    let one = |model: &str| vec![model.to_owned()];
    assert_eq!(asked, [one("alpha"), one("beta"), one("alpha"), one("odd"), one("odd"), one("alpha")]);
    // One conversation, whatever the models.
    let sessions: Vec<_> = [&first, &second, &third, &fourth, &fifth, &sixth]
        .iter()
        .flat_map(|key| env.provider.requests(key).entries)
        .map(|entry| entry.session)
        .collect();
    assert!(sessions[0].is_some() && sessions.iter().all(|session| *session == sessions[0]), "{sessions:?}");
    let history = &env.provider.requests(&sixth).entries[0].messages;
    assert!(history.len() > 6, "the last message has all before it: {history:?}");
}

#[test]
fn models_change_on_the_fly_in_a_shared_server() {
    models_change_on_the_fly("agent");
}

#[test]
fn models_change_on_the_fly_in_a_server_of_its_own() {
    models_change_on_the_fly("server");
}

#[test]
fn a_busy_worker_has_a_line_and_forced_ones_stand_beside_it() {
    let (env, mut client) = yard("mcp-line");
    let gate = Gate::default();
    let slow = env.provider.script("slow", vec![Step::text("slow").at(&gate)]);
    let first = tell(&mut client, "coder", &slow, json!({}));
    env.provider.wait_for_requests(&slow, 1);
    let second = env.provider.script("second", vec![Step::text("2")]);
    let third = env.provider.script("third", vec![Step::text("3")]);
    let second_told = tell(&mut client, "coder", &second, json!({}));
    let third_told = tell(&mut client, "coder", &third, json!({}));
    assert_eq!((&second_told["position"], &third_told["position"]), (&json!(1), &json!(2)), "{third_told:#}");
    assert_eq!((&second_told["worker"], &second_told["status"]), (&json!("coder"), &json!("queued")));
    let beside = env.provider.script("beside", vec![Step::text("beside")]);
    let forced = tell(&mut client, "coder", &beside, json!({"forceNew": true}));
    assert_eq!(forced["worker"], "coder-2", "{forced:#}");
    assert_eq!(ended(&mut client, &forced)["text"], "beside");
    gate.open();
    for (told, text) in [(&first, "slow"), (&second_told, "2"), (&third_told, "3")] {
        assert_eq!(ended(&mut client, told)["text"], text);
    }
    let at = |key: &str| env.provider.requests(key).entries[0].ordinal;
    assert!(at(&slow) < at(&second) && at(&second) < at(&third), "first in, first out");
}

#[test]
fn a_worker_is_used_again_only_when_nothing_has_changed() {
    let (env, mut client) = yard("mcp-reuse");
    let key = |name: &str| env.provider.script(name, vec![Step::text("x")]);
    let first = said(&mut client, "docs", &key("a"), json!({}));
    let again = said(&mut client, "docs", &key("b"), json!({}));
    assert_eq!((&again["worker"], &again["sessionId"]), (&first["worker"], &first["sessionId"]));
    // Its server is gone: its conversation is not.
    env.run(&["opencode", "stop"]).expect_code(0);
    let started = tell(&mut client, "docs", &key("c"), json!({}));
    assert!(started["notes"].to_string().contains("its conversation is resumed"), "{started:#}");
    let resumed = ended(&mut client, &started);
    assert_eq!((&resumed["worker"], &resumed["sessionId"]), (&first["worker"], &first["sessionId"]), "{resumed:#}");
    // Its profile has another model now.
    env.write_config("[profiles]\ncoder = \"scripted/alpha\"\ndocs = \"scripted/beta\"\n");
    drop(client);
    let mut client = Client::start(&env, &["--tools", "tasks"]);
    let key_d = key("d");
    let started = tell(&mut client, "docs", &key_d, json!({}));
    assert!(started["notes"].to_string().contains("another model"), "{started:#}");
    ended(&mut client, &started);
    assert_eq!(models(&env, &key_d), ["beta"]);
}

#[test]
fn only_models_that_see_are_shown_images() {
    let (env, mut client) = yard("mcp-eyes");
    std::fs::write(env.project().join("dot.png"), DOT).expect("an image");
    let key = env.provider.script("look", vec![Step::text("a dot")]);
    let started = client.call("task_start", &json!({"kind": "auto", "task": key, "attachments": ["dot.png"]}));
    let told = &started["structuredContent"];
    assert_eq!((&told["profile"], &told["model"]), (&json!("vision"), &json!("scripted/eyes")), "{started:#}");
    let done = ended(&mut client, told);
    assert_eq!(done["text"], "a dot", "{done:#}");
    let request = &env.provider.requests(&key).entries[0];
    assert_eq!((request.model.as_str(), request.images.as_slice()), ("eyes", ["image/png".to_owned()].as_slice()));
    // Named, set, or set beforehand: a model without eyes is refused on every path.
    let blind = json!({"kind": "worker", "workerId": "vision", "task": "x", "model": "scripted/alpha"});
    expect_refusal(&client.call("task_start", &blind), "image");
    let sticky = json!({"kind": "worker", "workerId": "vision", "task": "x", "model": "scripted/alpha", "modelPolicy": "sticky"});
    expect_refusal(&client.call("task_start", &sticky), "image");
    let set = json!({"kind": "op", "op": "worker.model.set", "workerId": "vision", "model": "scripted/alpha"});
    expect_refusal(&client.call("task_start", &set), "image");
    let coder = json!({"kind": "worker", "workerId": "coder", "task": "x", "attachments": ["dot.png"]});
    expect_refusal(&client.call("task_start", &coder), "image");
    for (file, problem) in
        [("../outside.png", "cannot be read"), ("/etc/hostname", "outside the project"), (".", "no file")]
    {
        let start = json!({"kind": "auto", "task": "x", "attachments": [file]});
        expect_refusal(&client.call("task_start", &start), problem);
    }
}

#[test]
fn a_worker_that_only_looks_can_change_nothing() {
    let (env, mut client) = yard("mcp-looks");
    let file = env.project().join("made.txt");
    let write = Step::tool("write", json!({"filePath": file, "content": "x"}));
    let shell = Step::tool("bash", json!({"command": format!("touch {}", file.display()), "description": "x"}));
    let key = env.provider.script("explore", vec![write, shell, Step::text("I could not")]);
    let done = said(&mut client, "explorer", &key, json!({}));
    assert_eq!(done["text"], "I could not", "{done:#}");
    assert!(!file.exists());
    let tools = &env.provider.requests(&key).entries[0].tools;
    assert!(tools.iter().any(|tool| tool == "read") && !tools.iter().any(|tool| tool == "bash"), "{tools:?}");
    let key = env
        .provider
        .script("code", vec![Step::tool("write", json!({"filePath": file, "content": "x"})), Step::text("made")]);
    said(&mut client, "coder", &key, json!({}));
    assert!(file.exists());
}

#[test]
fn what_is_wrong_is_said_with_what_would_be_right() {
    let (env, mut client) = yard("mcp-wrong");
    let start = |arguments: Value| arguments;
    for (arguments, problem) in [
        (start(json!({"kind": "worker", "workerId": "codr", "task": "x"})), "did you mean `coder`?"),
        (start(json!({"kind": "worker", "task": "x"})), "which worker?"),
        (start(json!({"kind": "worker", "workerId": "coder", "task": "x", "model": "scripted/nothing"})), "nothing"),
        (start(json!({"kind": "workflow", "workflow": "plan", "task": "x"})), "there is no workflow `plan`"),
        (start(json!({"kind": "worker", "workerId": "coder", "task": "x".repeat(200_000)})), "at most 100000"),
        (
            start(json!({"kind": "op", "op": "worker.model.set", "workerId": "nobody", "model": "scripted/beta"})),
            "there is no worker `nobody`",
        ),
        (
            start(json!({"kind": "op", "op": "worker.model.reset", "workerId": "coder"})),
            "no worker of the profile `coder`",
        ),
        (
            start(json!({"kind": "op", "op": "worker.model.set", "workerId": "coder", "model": "scripted/nothing"})),
            "nothing",
        ),
        (
            start(json!({"kind": "op", "op": "worker.model.reset", "workerId": "coder", "policy": "sticky"})),
            "`policy` means nothing for worker.model.reset",
        ),
        (
            start(json!({"kind": "worker", "workerId": "coder", "task": "x", "verify": ["true"]})),
            "means nothing for kind",
        ),
    ] {
        expect_refusal(&client.call("task_start", &arguments), problem);
    }
    assert_eq!(env.provider.ledger().entries.len(), 0, "nobody was asked");
    let listed = client.call("task_list", &json!({"view": "profiles"}));
    assert!(text(&listed).contains("node:vision"), "{}", text(&listed));
    let coder = listed["structuredContent"]["profiles"]
        .as_array()
        .and_then(|rows| rows.iter().find(|row| row["profile"] == "coder"));
    let source = coder.and_then(|row| row["source"].as_str()).expect("a source");
    assert!(source.ends_with("config.toml"), "where it is set: {source}");
}
