//! A plugin of the project that changes the model of an agent's message.

use crate::{
    agents_described::{rows, standings, with_agents},
    yard::assert_settled,
};
use std::fs;

/// OpenCode's description of an agent is incomplete: a plugin of the project may still put another model into a
/// message.
#[test]
fn a_model_that_is_not_honoured_is_noticed_by_who_answers() {
    let mut env = with_agents("agents-not-honoured");
    // With a plugin, OpenCode waits until it has fetched a package that this one does not need, or could not.
    env.set("npm_config_registry", "http://127.0.0.1:9/");
    let folder = env.project().join(".opencode/plugin");
    fs::create_dir_all(&folder).expect("a directory");
    let plugin = "export const Swap = async () => ({
  \"chat.message\": async (input, output) => {
    if (output.message.agent === \"helper\" || output.message.agent === \"small\")
      output.message.model = { providerID: \"scripted\", modelID: \"alpha\" }
  },
})
";
    fs::write(folder.join("swap.js"), plugin).expect("a plugin");
    let args = ["agents", "configure", "--json", "--med", "scripted/beta", "--low", "scripted/odd", "--yes"];
    let outcome = env.run(&args);
    outcome.expect_code(1);
    let report = outcome.json();
    let expected =
        [("leader", "proven", "beta"), ("helper", "not_honoured", "alpha"), ("small", "not_honoured", "alpha")];
    assert_eq!(standings(&report), rows(&expected), "{report:#}");
    let helper = &report["agents"][1];
    assert_eq!(helper["resolved"]["model"], "beta", "OpenCode itself says that it would take the right one");
    assert_eq!(helper["detail"], "scripted/alpha answered");
    assert_eq!(report["written"], true, "what was written stays");
    assert_settled(&env);
    let listed = env.run(&["agents", "configure", "--low", "scripted/odd", "--yes"]);
    listed.expect_code(1);
    let told = "small: DOES NOT HOLD, another model answered; wanted scripted/odd: scripted/alpha answered";
    assert!(listed.stdout.contains(told), "{}", listed.stdout);
}
