//! The model of a worker, set before there is one, for one message, and for all that follow.

use crate::mcp::{
    client::Client,
    resumed::{client, listed, said, yard},
};
use serde_json::{Value, json};

fn operate(client: &mut Client, more: Value) -> Value {
    let mut order = json!({"kind": "op", "op": "worker.model.set"});
    order.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    let done = client.call("task_start", &order);
    assert_eq!(done["isError"], false, "{done:#}");
    done["structuredContent"].clone()
}

#[test]
fn a_model_can_be_set_before_there_is_a_worker_and_for_one_message() {
    let env = yard("mcp-set");
    let dry = env.run(&["worker", "model", "set", "docs", "scripted/beta", "--dry-run", "--json"]);
    assert_eq!((&dry.expect_code(0).json()["model"], &listed(&env)), (&json!("scripted/beta"), &json!([])));
    let unknown = env.run(&["worker", "model", "set", "doc", "scripted/beta", "--json"]);
    let hint = unknown.expect_code(2).json()["error"]["hint"].clone();
    assert!(hint.as_str().is_some_and(|hint| hint.contains("coder, docs")), "a profile can be named: {hint}");
    let mut asking = client(&env);
    let set = operate(&mut asking, json!({"workerId": "docs", "model": "scripted/beta", "policy": "sticky"}));
    assert_eq!(
        (&set["state"], &set["policy"], &set["model"]),
        (&json!("fresh"), &json!("sticky"), &json!("scripted/beta"))
    );
    for answer in ["one", "two"] {
        assert_eq!(said(&env, &mut asking, "docs", answer, json!({})).1, "beta");
    }
    // The policy `dynamic` is for the next message that names no model of its own.
    let set = operate(&mut asking, json!({"workerId": "coder", "model": "scripted/beta", "policy": "dynamic"}));
    assert_eq!((&set["policy"], &set["model"]), (&json!("dynamic"), &json!("scripted/beta")), "{set:#}");
    assert_eq!(said(&env, &mut asking, "coder", "named", json!({"model": "scripted/odd"})).1, "odd");
    let (second, model) = said(&env, &mut asking, "coder", "next", json!({}));
    assert_eq!(model, "beta");
    let (third, model) = said(&env, &mut asking, "coder", "then", json!({}));
    assert_eq!((model.as_str(), &third["sessionId"]), ("alpha", &second["sessionId"]));
    let shell = env.run(&["worker", "model", "set", "coder", "scripted/beta", "--policy", "dynamic"]);
    assert!(shell.expect_code(0).stdout.contains("for its next message"), "{}", shell.stdout);
}
