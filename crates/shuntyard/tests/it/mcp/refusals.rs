//! Every wrong call is answered by its tool, with what would be right. Nothing wrong reaches the jobs.

use crate::mcp::{
    client::{Client, expect_refusal, text},
    env, own_env,
};
use serde_json::{Value, json};

#[test]
fn wrong_arguments_are_named() {
    let env = own_env("mcp-refusals");
    let mut client = Client::start(&env, &[]);
    let table = [
        ("task_start", json!({}), "`task` is missing"),
        ("task_start", json!({"task": 7}), "`task` must be a text"),
        ("task_start", json!({"task": "x", "kind": "wrker"}), "`kind` must be one of"),
        ("task_start", json!({"task": "x", "modelPolicy": "forever"}), "`modelPolicy` must be one of dynamic, sticky"),
        ("task_start", json!({"task": "x", "backend": "cloud"}), "`backend` must be one of agent, server"),
        ("task_start", json!({"task": "x", "directory": "/"}), "`directory` leads out of"),
        ("task_start", json!({"task": "x", "directory": "nowhere"}), "`directory` is no directory"),
        ("task_start", json!({"task": "x", "directory": "../.."}), "`directory` leads out of"),
        ("task_start", json!({"task": "x", "op": "worker.stop"}), "`op` means nothing without kind"),
        ("task_start", json!({"task": "x", "mode": "agent"}), "`mode` is for kind"),
        ("task_start", json!({"task": "x", "timeout": "soon"}), "`timeout` must be a number of seconds"),
        ("task_start", json!({"task": "x", "jsonSchema": "nonsense"}), "`jsonSchema`: the schema is not JSON"),
        ("task_start", json!({"kind": "op"}), "`op` is missing"),
        ("task_start", json!({"kind": "op", "op": "worker.explode"}), "`op` must be one of worker.model.set"),
        ("task_start", json!({"kind": "op", "op": "worker.stop"}), "`workerId` is missing"),
        ("task_start", json!({"kind": "op", "op": "worker.model.set", "workerId": "coder"}), "needs `model`"),
        (
            "task_start",
            json!({"kind": "op", "op": "worker.stop", "workerId": "x", "task": "y"}),
            "`task` means nothing",
        ),
        (
            "task_start",
            json!({"kind": "op", "op": "worker.stop", "workerId": "x", "model": "y"}),
            "`model` means nothing",
        ),
        ("task_start", json!({"kind": "op", "op": "worker.stop", "workerId": "nobody"}), "nobody"),
        ("task_start", json!({"kind": "workflow", "task": "x", "workflow": "none"}), "there is no workflow `none`"),
        ("task_start", json!({"kind": "workflow", "runId": "j999999"}), "j999999"),
        ("task_await", json!({}), "neither `taskId` nor `taskIds`"),
        ("task_await", json!({"taskIds": []}), "neither `taskId` nor `taskIds`"),
        ("task_await", json!({"taskId": "j1", "taskIds": ["j2"]}), "both `taskId` and `taskIds`"),
        ("task_await", json!({"taskId": ["j1"]}), "`taskId` must be a text, not a list"),
        ("task_await", json!({"taskIds": "j1"}), "`taskIds` must be a list of texts"),
        ("task_await", json!({"taskId": "j999999"}), "there is no job or task `j999999`"),
        ("task_await", json!({"taskIds": ["j999999", "nonsense"]}), "there is no job or task"),
        ("task_await", json!({"taskId": "j1", "any": "yes"}), "`any` must be true or false"),
        ("task_peek", json!({}), "`taskId` is missing"),
        ("task_peek", json!({"taskId": "../../etc"}), "there is no job or task `../../etc`"),
        ("task_peek", json!({"taskId": "j999999"}), "there is no job or task `j999999`"),
        ("task_cancel", json!({"taskId": "t999"}), "there is no job or task `t999`"),
        ("task_list", json!({"view": "weather"}), "`view` must be one of tasks, workers"),
        ("task_list", json!({"format": "xml"}), "`format` must be one of markdown, json"),
        ("task_list", json!({"limit": 100_000}), "`limit` must be a whole number from 1 to 200"),
        ("task_list", json!({"view": "output"}), "view \"output\" needs `taskId`"),
        ("task_list", json!({"view": "tasks", "taskId": "j1"}), "`taskId` is only for view \"output\""),
        ("dispatch", json!({}), "`prompt` is missing"),
        ("dispatch", json!({"prompt": "x"}), "nothing says which model is to answer"),
        ("dispatch", json!({"prompt": "x", "provider": "scripted"}), "`model` is missing"),
        ("dispatch", json!({"prompt": "x", "model": "scripted/alpha", "port": 4096}), "`port` 4096 is not the server"),
        (
            "dispatch",
            json!({"prompt": "x", "model": "scripted/alpha", "port": 70_000}),
            "`port` must be a whole number",
        ),
        ("dispatch", json!({"prompt": "x", "taskType": "juggling"}), "juggling"),
        ("dispatch", json!({"prompt": "x", "model": "m", "cleanup": "no"}), "`cleanup` must be true or false"),
        ("batch_dispatch", json!({"prompt": "x"}), "nothing says which models"),
        ("batch_dispatch", json!({"prompt": "x", "models": ["scripted/alpha"]}), "`models` has one model"),
        ("batch_dispatch", json!({"prompt": "x", "models": "alpha"}), "`models` must be a list of models"),
        ("batch_dispatch", json!({"prompt": "x", "models": ["scripted/alpha", "scripted/alpha"]}), "scripted/alpha"),
        ("batch_dispatch", json!({"prompt": "x", "taskType": "juggling"}), "juggling"),
        ("task_stop", json!({}), "there is no tool `task_stop` here"),
    ];
    for (tool, arguments, message) in table {
        let result = client.call(tool, &arguments);
        let said = result["structuredContent"]["error"]["message"].as_str().unwrap_or_default();
        assert!(said.contains(message), "{tool} {arguments}: expected {message:?} in {result:#}");
        expect_refusal(&result, message);
    }
    let listed = client.call("task_list", &json!({"format": "json"}));
    assert_eq!(listed["structuredContent"]["tasks"], json!([]), "nothing was started");
}

#[test]
fn every_unknown_argument_is_refused_with_the_nearest() {
    let mut client = Client::start(env(), &[]);
    let table = [
        ("task_start", "taskk", "task"),
        ("task_start", "worker_id", "workerId"),
        ("task_await", "taskid", "taskId"),
        ("task_peek", "task_id", "taskId"),
        ("task_cancel", "taskID", "taskId"),
        ("task_list", "viwe", "view"),
        ("dispatch", "promt", "prompt"),
        ("batch_dispatch", "model", "models"),
    ];
    for (tool, wrong, right) in table {
        let result = client.call(tool, &json!({wrong: "x"}));
        expect_refusal(&result, &format!("there is no argument `{wrong}`"));
        assert!(text(&result).contains(&format!("did you mean `{right}`?")), "{tool}: {result:#}");
        let valid = result["structuredContent"]["error"]["valid"].as_array().expect("valid names");
        assert!(valid.contains(&json!(right)), "{result:#}");
    }
}

#[test]
fn arguments_that_are_no_object_are_refused_where_a_model_sees_it() {
    let mut client = Client::start(env(), &[]);
    for arguments in [json!("task"), json!([1, 2]), json!(7)] {
        let result = client.call("task_peek", &arguments);
        expect_refusal(&result, "`arguments` must be an object");
    }
    let without = client.request("tools/call", &json!({"name": "task_list"}));
    assert_eq!(without["result"]["isError"], false, "{without:#}");
    let null = client.request("tools/call", &json!({"name": "task_list", "arguments": null}));
    assert_eq!(null["result"]["isError"], false, "{null:#}");
}

#[test]
fn a_port_that_the_configuration_names_is_taken() {
    let mut env = own_env("mcp-port");
    // No server listens there: what is refused then is the server, not the port.
    env.set("SHUNTYARD_OPENCODE_URL", "http://127.0.0.1:9");
    let mut client = Client::start(&env, &[]);
    let taken = client.call("dispatch", &json!({"prompt": "x", "model": "scripted/alpha", "port": 9}));
    assert!(!text(&taken).contains("is not the server that the configuration names"), "{taken:#}");
    let other = client.call("dispatch", &json!({"prompt": "x", "model": "scripted/alpha", "port": 10}));
    expect_refusal(&other, "`port` 10 is not the server");
}

#[test]
fn every_view_can_be_listed_when_there_is_nothing() {
    let env = own_env("mcp-empty");
    let mut client = Client::start(&env, &[]);
    for view in ["tasks", "workers", "profiles", "workflows", "status", "routes", "budget", "patterns"] {
        for format in ["markdown", "json"] {
            let result = client.call("task_list", &json!({"view": view, "format": format}));
            assert_eq!(result["isError"], false, "{view}: {result:#}");
            assert_eq!(result["structuredContent"]["view"], view);
            let parsed = serde_json::from_str::<Value>(text(&result)).ok();
            assert_eq!(parsed.is_some(), format == "json", "{view} {format}: {}", text(&result));
        }
    }
}
