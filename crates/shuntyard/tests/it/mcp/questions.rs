//! Views that answer a question: what a client gets is what the command prints.

use crate::mcp::{
    client::{Client, expect_refusal, text},
    own_env,
};
use serde_json::{Value, json};

/// Without what depends on the moment, such as the weight of what is some milliseconds older.
fn settled(mut value: Value) -> Value {
    match &mut value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("_ms"));
            fields.values_mut().for_each(|value| *value = settled(value.take()));
        }
        Value::Array(rows) => rows.iter_mut().for_each(|value| *value = settled(value.take())),
        Value::Number(number) => {
            value = json!(number.as_f64().map(|number| (number * 1000.0).round()));
        }
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
    value
}

#[test]
fn a_client_gets_what_the_command_prints() {
    let env = own_env("mcp-questions");
    env.write_config("[tiers]\nhaiku = [\"scripted/alpha\"]\nsonnet = [\"scripted/beta\"]\n");
    for outcome in ["success", "success", "failure"] {
        let note = ["--task-type", "code-review", "--model", "scripted/alpha", "--tier", "haiku", "--outcome", outcome];
        let text = ["--text", "review the cart for races"];
        env.run(&[&["patterns", "record"][..], &note, &text].concat()).expect_code(0);
    }
    // The first read of the models may come from another place than the later ones.
    env.run(&["models", "--refresh"]).expect_code(0);
    let mut client = Client::start(&env, &["--tools", "tasks"]);
    let task = "Review the cart for races";
    for (view, query, command) in [
        ("route", Some(task), &["route", task][..]),
        ("recommend", Some("code-review"), &["patterns", "recommend", "code-review"]),
        ("similar", Some(task), &["patterns", "suggest", task]),
        ("compare", Some("scripted/alpha, scripted/beta"), &["models", "compare", "scripted/alpha", "scripted/beta"]),
        ("report", None, &["patterns", "report"]),
    ] {
        let printed = env.run(&[command, &["--json"]].concat()).json();
        let answered = client.call("task_list", &json!({"view": view, "query": query}));
        assert_eq!(answered["isError"], false, "{view}: {answered:#}");
        let got = &answered["structuredContent"];
        assert_eq!(settled(got[view].clone()), settled(printed.clone()), "{view}");
        assert!(text(&answered).starts_with(view), "{view}: {answered:#}");
        let whole = client.call("task_list", &json!({"view": view, "query": query, "format": "json"}));
        let parsed: Value = serde_json::from_str(text(&whole)).expect("JSON");
        assert_eq!(settled(parsed[view].clone()), settled(printed), "{view}");
    }
}

#[test]
fn what_is_asked_has_to_make_sense() {
    let env = own_env("mcp-questions-refused");
    let mut client = Client::start(&env, &["--tools", "tasks"]);
    for (arguments, message) in [
        (json!({"view": "route"}), "view \"route\" needs `query`"),
        (json!({"view": "recommend", "query": " "}), "view \"recommend\" needs `query`"),
        (json!({"view": "compare", "query": "scripted/alpha"}), "nothing to compare"),
        (json!({"view": "compare", "query": "scripted/alpha, scripted/none"}), "has no model `none`"),
        (json!({"view": "report", "query": "x"}), "`query` means nothing for view \"report\""),
        (json!({"view": "route", "query": "x", "status": "running"}), "`status` means nothing for view \"route\""),
    ] {
        expect_refusal(&client.call("task_list", &arguments), message);
    }
}
