//! The doctor's own conformance checks, against the OpenCode that this version was tested with.

use crate::{findings::finding, own_env};
use serde_json::{Value, json};
use shuntyard_testkit::{TestEnv, environment::API_KEY};

fn scratch_directories(env: &TestEnv) -> Vec<String> {
    let entries = std::fs::read_dir(env.root.join("tmp")).expect("a directory").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("shuntyard-doctor-")).collect()
}

#[test]
fn the_tested_opencode_conforms_and_nothing_is_left_or_told() {
    let env = own_env("doctor");
    let run = env.run(&["doctor", "--json"]);
    let document = run.json();
    let outcomes: Vec<(&str, &str)> = document["conformance"]
        .as_array()
        .expect("checks")
        .iter()
        .map(|check| (check["name"].as_str().unwrap_or_default(), check["outcome"].as_str().unwrap_or_default()))
        .collect();
    // On a machine that is busy with other tests this one may run out of its time, which is no failure.
    assert!(matches!(outcomes[0], ("stdin", "holds" | "worked_around")), "{document:#}");
    let expected = [
        ("permission ask", "worked_around"),
        ("question tool", "holds"),
        ("model used", "holds"),
        ("abort", "holds"),
        ("retry-after", "worked_around"),
        ("database isolation", "holds"),
        ("structured output", "worked_around"),
        ("cost", "holds"),
        ("empty answer", "worked_around"),
    ];
    assert_eq!(outcomes[1..], expected, "{document:#}");
    run.expect_code(0);
    assert_eq!((&document["ok"], &document["conformance_skipped"]), (&json!(true), &Value::Null));
    assert_eq!(finding(&document, "opencode", "binary")["state"], "ok");
    let keyed = finding(&document, "provider", "scripted")["detail"].to_string();
    let keyless = finding(&document, "provider", "keyless")["detail"].to_string();
    assert!(keyed.contains("has credentials") && keyless.contains("has no credentials"), "{keyed} {keyless}");
    assert!(!run.stdout.contains(API_KEY) && !run.stderr.contains(API_KEY));
    assert_eq!(env.provider.ledger().entries.len(), 0, "the user's own provider is not asked");
    assert_eq!(scratch_directories(&env), Vec::<String>::new());
    env.stop_servers();
}
