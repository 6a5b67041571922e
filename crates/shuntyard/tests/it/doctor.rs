//! The doctor: what is broken is named with its exit code.

use crate::{findings::finding, own_env};
use shuntyard_testkit::{Outcome, TestEnv};

fn quick(env: &TestEnv) -> Outcome {
    env.run(&["doctor", "--quick", "--json"])
}

#[test]
fn a_machine_without_opencode_is_told_how_to_get_it() {
    let mut env = own_env("doctor-without");
    env.set("SHUNTYARD_OPENCODE_BIN", "/no/such/opencode");
    let run = quick(&env);
    let document = run.expect_code(4).json();
    let binary = finding(&document, "opencode", "binary");
    assert_eq!(binary["state"], "problem");
    assert_eq!(binary["fix"], "unset SHUNTYARD_OPENCODE_BIN; shuntyard opencode install");
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
    env.set("SHUNTYARD_STORE", format!("sqlite:{}", file.display()));
    let run = quick(&env);
    let document = run.expect_code(1).json();
    let database = finding(&document, "store", "database");
    assert_eq!(database["state"], "problem");
    assert!(database["fix"].as_str().is_some_and(|fix| fix.starts_with("mkdir -p ")), "{database}");
    assert_eq!(finding(&document, "opencode", "binary")["state"], "ok");
}
