//! Models for groups of agents: written where OpenCode reads them, and proven by the model that answers.

use crate::{
    agents_described::{CONFIG, GROUPS, ok, rows, standings, text, with_agents},
    own_env,
    yard::assert_settled,
};
use serde_json::json;
use shuntyard_scripted::Step;
use std::{fs, path::Path};

#[test]
fn models_are_written_and_proven_and_all_else_keeps_its_bytes() {
    let env = with_agents("agents-written");
    let file = env.project().join("opencode.jsonc");
    let args = ["agents", "configure", "--json", "--med", "scripted/beta@low", "--low", "scripted/odd", "--yes"];
    let report = ok(&env, &args);
    let expected = CONFIG
        .replace("\"You lead.\" }", "\"You lead.\", \"model\": \"scripted/beta\", \"variant\": \"low\" }")
        .replace(
            "\"You help.\",\n",
            "\"You help.\",\n      \"model\": \"scripted/beta\",\n      \"variant\": \"low\",\n",
        )
        .replace(", \"variant\": \"old\"}", ", \"model\": \"scripted/odd\"}");
    assert_eq!(text(&file), expected);
    let proven = [("leader", "proven", "beta@low"), ("helper", "proven", "beta@low"), ("small", "proven", "odd")];
    assert_eq!(standings(&report), rows(&proven), "{report:#}");
    assert_eq!(report["written"], true);
    assert_eq!(report["groups"][0]["missing"], json!(["absent"]));
    let beta = report["models"].as_array().expect("models").iter().find(|model| model["model"] == "beta");
    assert_eq!(beta.expect("the model")["variants"], json!(["high", "low", "medium"]));
    // Every request is paid for: what the provider has reported is what the store has.
    let booked = env.provider.ledger().total_reported().cost.as_usd();
    let told = report["cost_usd"].as_f64().expect("a cost");
    assert!(booked > 0.0 && (told - booked).abs() < 1e-9, "told {told}, booked {booked}");
    assert_settled(&env);
    let again = ok(&env, &[&args[..], &["--no-probe"]].concat());
    assert_eq!((&again["changed"], &again["written"], &again["diff"]), (&json!(false), &json!(false), &json!("")));
    let configured = [("leader", "configured", "-"), ("helper", "configured", "-"), ("small", "configured", "-")];
    assert_eq!(standings(&again), rows(&configured));
    assert_eq!(text(&file), expected);
    let listed = ok(&env, &["agents", "list", "--json"]);
    let agents = listed["agents"].as_array().expect("agents");
    let small = agents.iter().find(|agent| agent["name"] == "small").expect("the agent");
    assert_eq!((&small["mode"], &small["group"]), (&json!("all"), &json!("low")));
    assert_eq!(small["model"], json!({"provider": "scripted", "model": "odd", "variant": null}));
}

#[test]
fn nothing_is_written_without_a_yes_or_with_what_is_not_there() {
    let env = with_agents("agents-refused");
    let file = env.project().join("opencode.jsonc");
    env.run(&["agents", "configure", "--json"]).expect_code(3);
    env.run(&["agents", "configure", "--json", "--med", "scripted/beta"]).expect_code(3);
    let alone = env.run(&["agents", "configure", "--json", "--yes"]);
    alone.expect_code(3);
    assert!(alone.json()["error"]["hint"].as_str().is_some_and(|hint| hint.contains("--med")), "{}", alone.stdout);
    let variant = env.run(&["agents", "configure", "--json", "--med", "scripted/beta@huge", "--yes"]);
    variant.expect_code(2);
    assert!(variant.stdout.contains("low"), "those that there are: {}", variant.stdout);
    let shown = ok(&env, &["agents", "configure", "--json", "--dry-run"]);
    let recommended = |at: usize| shown["groups"][at]["recommended"]["model"]["model"].clone();
    assert_eq!((recommended(0), recommended(1)), (json!("alpha"), json!("odd")), "{shown:#}");
    assert!(shown["diff"].as_str().is_some_and(|diff| diff.contains("+    \"leader\"")), "{shown:#}");
    assert_eq!(text(&file), CONFIG);
    assert_eq!(env.provider.ledger().entries.len(), 0, "nobody was asked");
}

#[test]
fn settings_that_come_first_are_noticed_and_named() {
    let env = with_agents("agents-overridden");
    let folder = env.project().join(".opencode");
    fs::create_dir(&folder).expect("a directory");
    let nearer = json!({"agent": {"helper": {"model": "scripted/alpha"}}});
    fs::write(folder.join("opencode.json"), nearer.to_string()).expect("a file");
    let outcome = env.run(&["agents", "configure", "--json", "--med", "scripted/beta", "--yes"]);
    outcome.expect_code(1);
    let report = outcome.json();
    let expected = [("leader", "proven", "beta"), ("helper", "overridden", "-")];
    assert_eq!(standings(&report), rows(&expected), "{report:#}");
    let detail = report["agents"][1]["detail"].as_str().expect("a detail");
    assert!(detail.contains("scripted/alpha") && detail.contains(".opencode/opencode.json"), "{detail}");
}

#[test]
fn a_minimal_file_is_made_and_the_users_own_is_edited() {
    let env = own_env("agents-made");
    env.write_config(GROUPS);
    let folder = env.project().join(".opencode/agent");
    fs::create_dir_all(&folder).expect("a directory");
    let described = "---\ndescription: leads\nmode: primary\n---\nYou lead.\n";
    fs::write(folder.join("leader.md"), described).expect("an agent");
    let report = ok(&env, &["agents", "configure", "--json", "--low", "scripted/odd", "--yes", "--no-probe"]);
    assert_eq!((&report["written"], &report["agents"]), (&json!(false), &json!([])), "no agent of that group is here");
    let made = ok(&env, &["agents", "configure", "--json", "--med", "scripted/beta", "--yes"]);
    assert_eq!(standings(&made), rows(&[("leader", "proven", "beta")]));
    let file = env.project().join("opencode.jsonc");
    let whole = "{\n  \"$schema\": \"https://opencode.ai/config.json\",\n  \"agent\": {\n    \"leader\": {\n      \
                 \"model\": \"scripted/beta\"\n    }\n  }\n}\n";
    assert_eq!(text(&file), whole);
    fs::remove_file(&file).expect("removed");
    let args = ["agents", "configure", "--json", "--user", "--med", "scripted/odd", "--yes"];
    let mine = ok(&env, &args);
    assert_eq!(standings(&mine), rows(&[("leader", "proven", "odd")]));
    assert!(!file.exists());
    let own = Path::new(mine["file"].as_str().expect("a path"));
    assert!(own.starts_with(env.root.join("home/.config/opencode")), "{}", own.display());
    assert!(text(own).contains("scripted/odd"));
}

#[test]
fn an_agent_that_cannot_answer_is_not_proven() {
    let env = with_agents("agents-failing");
    env.provider.script_key("test of who answers", vec![Step::status(401)]);
    let outcome = env.run(&["agents", "configure", "--json", "--low", "scripted/odd", "--yes"]);
    outcome.expect_code(1);
    let report = outcome.json();
    assert_eq!(report["agents"][0]["standing"], "unproven", "{report:#}");
    assert_eq!(report["written"], true);
    assert_settled(&env);
}
