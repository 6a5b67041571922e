//! What a person reads afterwards: the status, the report, the history, a diff and a transcript.

use super::Yard;
use serde_json::{Value, json};
use switchyard_scripted::Step;

fn write(file: &str, text: &str) -> Step {
    Step::tool("write", json!({"filePath": file, "content": text}))
}

fn add(yard: &Yard, name: &str, steps: Vec<Step>, more: &[&str]) -> String {
    let key = yard.env.provider.script(name, steps);
    yard.add(&[&[format!("work {key}").as_str(), "--model", "scripted/alpha"], more].concat())
}

#[test]
fn failed_tasks_need_attention_and_the_total_is_that_of_all_tasks() {
    let yard = Yard::new("reports-status");
    let done = add(&yard, "good", vec![write("a.txt", "a\n"), Step::text("done")], &[]);
    let failed =
        add(&yard, "bad", vec![write("b.txt", "b\n"), Step::text("done")], &["--verify", "false", "--attempts", "1"]);
    yard.settle();
    assert_eq!((yard.phase(&done).as_str(), yard.phase(&failed).as_str()), ("done", "failed"));
    let status = yard.env.run(&["status", "--json"]).expect_code(0).json();
    let needs: Vec<&Value> =
        status["needs_attention"].as_array().expect("tasks").iter().map(|task| &task["id"]).collect();
    assert_eq!(needs, [&json!(failed)], "{status:#}");
    assert_eq!(status["needs_attention"][0]["phase"], "failed");
    assert_eq!(status["supervisor"], json!({"running": false}));
    let cost = |id: &str| yard.task(id)["cost_usd"].as_f64().expect("a cost");
    let total = status["totals"]["cost_usd"].as_f64().expect("a total");
    assert!(total > 0.0 && (total - cost(&done) - cost(&failed)).abs() < 1e-9, "{status:#}");
    let people = yard.env.run(&["status"]);
    assert!(people.stdout.contains(&failed) && people.stdout.contains("in total"), "{}", people.stdout);
    assert!(people.stderr.contains("no supervisor runs"), "{}", people.stderr);
}
