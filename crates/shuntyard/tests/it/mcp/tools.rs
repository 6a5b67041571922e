//! Which tools there are, and what they take. A change of these is a change for every client.

use crate::mcp::{client::Client, env};
use serde_json::{Value, json};

const TASKS: [&str; 5] = ["task_start", "task_await", "task_peek", "task_list", "task_cancel"];
const DISPATCH: [&str; 2] = ["dispatch", "batch_dispatch"];

fn listed(client: &mut Client) -> Vec<Value> {
    let answer = client.request("tools/list", &json!({}));
    answer["result"]["tools"].as_array().cloned().unwrap_or_else(|| panic!("tools: {answer}"))
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[test]
fn each_set_has_exactly_its_tools() {
    let all = [TASKS.as_slice(), &DISPATCH].concat();
    let table: [(&[&str], Vec<&str>); 4] = [
        (&["--tools", "tasks"], TASKS.to_vec()),
        (&["--tools", "dispatch"], DISPATCH.to_vec()),
        (&["--tools", "all"], all.clone()),
        (&[], all),
    ];
    for (args, expected) in table {
        let mut client = Client::start(env(), args);
        let tools = listed(&mut client);
        assert_eq!(names(&tools), expected, "{args:?}");
        let instructions = client.server["instructions"].as_str().expect("instructions");
        assert!(instructions.lines().count() <= 15, "{instructions}");
        for name in TASKS.iter().chain(&DISPATCH).filter(|name| !expected.contains(name)) {
            // A tool that is not offered is not there either.
            let result = client.call(name, &json!({}));
            crate::mcp::client::expect_refusal(&result, &format!("there is no tool `{name}` here"));
        }
    }
}

#[test]
fn the_schemas_are_as_they_were() {
    let mut client = Client::start(env(), &[]);
    for tool in listed(&mut client) {
        let name = tool["name"].as_str().expect("a name").to_owned();
        insta::assert_json_snapshot!(name, tool);
    }
    client.server["serverInfo"]["version"] = json!("[version]");
    insta::assert_json_snapshot!("server", client.server);
}

#[test]
fn the_schemas_are_plain_enough_for_every_provider() {
    let mut client = Client::start(env(), &[]);
    for tool in listed(&mut client) {
        let schema = &tool["inputSchema"];
        assert_eq!((&schema["type"], &schema["additionalProperties"]), (&json!("object"), &json!(false)));
        for (name, property) in schema["properties"].as_object().expect("properties") {
            assert!(property["type"].is_string(), "{name} has one type: {property}");
            assert!(property["description"].as_str().is_some_and(|what| what.len() > 10), "{name}: {property}");
        }
        let text = schema.to_string();
        for word in ["anyOf", "oneOf", "allOf", "$ref", "$schema"] {
            assert!(!text.contains(word), "{}: {word}", tool["name"]);
        }
    }
}
