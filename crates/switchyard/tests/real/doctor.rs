//! The doctor: the real OpenCode conforms, and what is broken is named with its exit code.

use crate::own_env;
use serde_json::{Value, json};
use switchyard_testkit::{Outcome, TestEnv, environment::API_KEY};

fn finding(document: &Value, area: &str, subject: &str) -> Value {
    let findings = document["findings"].as_array().expect("findings");
    let found = findings.iter().find(|finding| finding["area"] == area && finding["subject"] == subject);
    assert!(found.is_some(), "no finding {area} {subject}: {document:#}");
    found.cloned().unwrap_or_default()
}

fn scratch_directories(env: &TestEnv) -> Vec<String> {
    let entries = std::fs::read_dir(env.root.join("tmp")).expect("a directory").flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.starts_with("switchyard-doctor-")).collect()
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

fn quick(env: &TestEnv) -> Outcome {
    env.run(&["doctor", "--quick", "--json"])
}

#[test]
fn a_machine_without_opencode_is_told_how_to_get_it() {
    let mut env = own_env("doctor-without");
    env.set("SWITCHYARD_OPENCODE_BIN", "/no/such/opencode");
    let run = quick(&env);
    let document = run.expect_code(4).json();
    let binary = finding(&document, "opencode", "binary");
    assert_eq!(binary["state"], "problem");
    assert_eq!(binary["fix"], "unset SWITCHYARD_OPENCODE_BIN; switchyard opencode install");
    assert_eq!(finding(&document, "store", "database")["state"], "ok");
    assert_eq!(document["ok"], false);
}

#[test]
fn broken_settings_are_a_finding_and_not_the_end() {
    let env = own_env("doctor-settings");
    env.write_config("[serverr]\nurl = \"x\"\n");
    let run = quick(&env);
    let document = run.expect_code(2).json();
    let settings = finding(&document, "configuration", "settings");
    assert!(settings["detail"].as_str().is_some_and(|text| text.contains("did you mean `server`")), "{settings}");
    assert_eq!(finding(&document, "opencode", "binary")["state"], "ok", "variables still count");
    assert_eq!(finding(&document, "machine", "git")["state"], "ok");
}

#[test]
fn a_store_that_is_none_is_a_finding_and_not_the_end() {
    let mut env = own_env("doctor-store");
    let file = env.root.join("not-a-store.db");
    std::fs::write(&file, "plain text, and long enough to be looked at as a header").expect("a file");
    env.set("SWITCHYARD_STORE", format!("sqlite:{}", file.display()));
    let run = quick(&env);
    let document = run.expect_code(1).json();
    let database = finding(&document, "store", "database");
    assert_eq!(database["state"], "problem");
    assert!(database["fix"].as_str().is_some_and(|fix| fix.starts_with("mkdir -p ")), "{database}");
    assert_eq!(finding(&document, "opencode", "binary")["state"], "ok");
}
