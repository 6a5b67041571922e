//! The pack's commands inside the real OpenCode: what their tool answers is what the command line prints.

use crate::own_env;
use serde_json::{Value, json};
use shuntyard_scripted::Step;
use shuntyard_testkit::TestEnv;
use std::process::{Command, Stdio};

/// Runs a command of the pack in OpenCode, and returns what our tools answered.
fn run(env: &TestEnv, command: &str, arguments: &str) -> Vec<Value> {
    let binary = env.variables().find(|(name, _)| *name == "SHUNTYARD_OPENCODE_BIN").expect("a binary").1;
    let mut opencode = Command::new(binary);
    opencode.args(["run", "-m", "scripted/alpha", "--format", "json", "--title", "t", "--command", command, arguments]);
    opencode.env_clear().envs(env.variables()).current_dir(env.project()).stdin(Stdio::null());
    let output = opencode.output().expect("OpenCode runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    assert!(!lines.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    let tools = lines.into_iter().filter(|line| line["part"]["tool"] == "shuntyard_task_list");
    tools.map(|line| line["part"]["state"].clone()).collect()
}

/// Without what depends on the moment, such as the weight of what is some milliseconds older.
fn settled(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("_ms"));
            fields.values_mut().for_each(|value| *value = settled(value.take()));
        }
        Value::Array(rows) => rows.iter_mut().for_each(|value| *value = settled(value.take())),
        Value::Number(number) => value = json!(number.as_f64().map(|number| (number * 1000.0).round())),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
    value
}

#[test]
fn commands_inside_opencode_have_the_data_of_the_command_line() {
    let env = own_env("slash-commands");
    env.write_config("[tiers]\nhaiku = [\"scripted/alpha\"]\nsonnet = [\"scripted/beta\"]\n");
    env.run(&["pack", "install", "--mcp"]).expect_code(0);
    for outcome in ["success", "success", "failure"] {
        let note = ["--task-type", "code-review", "--model", "scripted/alpha", "--tier", "haiku", "--outcome", outcome];
        env.run(&[&["patterns", "record"][..], &note].concat()).expect_code(0);
    }
    env.run(&["models", "--refresh"]).expect_code(0);
    let task = "Review the cart for races";
    let table = [
        ("route", task, "route", task, &["route", task][..]),
        ("patterns", "recommend code-review", "recommend", "code-review", &["patterns", "recommend", "code-review"]),
        (
            "compare-models",
            "scripted/alpha, scripted/beta",
            "compare",
            "scripted/alpha, scripted/beta",
            &["models", "compare", "scripted/alpha", "scripted/beta"],
        ),
    ];
    for (command, arguments, view, query, printed) in table {
        let call = json!({"view": view, "query": query, "format": "json"});
        let steps = vec![Step::tool("shuntyard_task_list", call), Step::text("as it is there")];
        let key = env.provider.script(command, steps);
        let answers = run(&env, command, &format!("{arguments} {key}"));
        assert_eq!(answers.len(), 1, "{command}: {answers:#?}");
        let told: Value = serde_json::from_str(answers[0]["output"].as_str().unwrap_or_default())
            .unwrap_or_else(|error| panic!("{command}: {error}: {:#}", answers[0]));
        let printed = env.run(&[printed, &["--json"]].concat()).json();
        assert_eq!(settled(told[view].clone()), settled(printed), "{command}");
        // The command's own text reached the model, with the arguments in their place.
        let asked = format!("{:?}", env.provider.requests(&key).entries[0].messages);
        assert!(asked.contains("shuntyard_task_list") && asked.contains(&key), "{command}: {asked}");
    }
}
