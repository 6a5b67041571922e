//! A project with agents of its own, and how the reports describe them.

use crate::own_env;
use serde_json::Value;
use shuntyard_testkit::TestEnv;
use std::{fs, path::Path};

pub const GROUPS: &str = "\
[agent_groups]
med = [\"leader\", \"helper\", \"absent\"]
low = [\"small\"]
med_model = \"scripted/alpha\"
low_model = \"scripted/odd\"
";

/// With a comment, an unknown key, an odd layout and a trailing comma. OpenCode itself would add the first line.
pub const CONFIG: &str = "{
  \"$schema\": \"https://opencode.ai/config.json\",
  // kept as it is
  \"agent\": {
    \"leader\": { \"mode\": \"primary\", \"description\": \"leads\", \"prompt\": \"You lead.\" }, // first
    \"helper\": {
      \"mode\": \"subagent\", \"description\": \"helps\",
      \"prompt\": \"You help.\",
    },
    \"small\": {\"mode\": \"all\", \"description\": \"d\", \"prompt\": \"You do.\", \"variant\": \"old\"},
  },
  \"x-unknown\": [1,   2],
}
";

pub fn with_agents(name: &str) -> TestEnv {
    let env = own_env(name);
    env.write_config(GROUPS);
    fs::write(env.project().join("opencode.jsonc"), CONFIG).expect("the configuration");
    env
}

/// The report of a command that has to succeed.
pub fn ok(env: &TestEnv, args: &[&str]) -> Value {
    let outcome = env.run(args);
    outcome.expect_code(0);
    outcome.json()
}

pub fn text(path: &Path) -> String {
    fs::read_to_string(path).expect("a file")
}

/// Agent, status, and the model that answered.
pub fn standings(report: &Value) -> Vec<(String, String, String)> {
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let model = |value: &Value| {
        let variant = value["variant"].as_str().map_or_else(String::new, |variant| format!("@{variant}"));
        if value.is_null() { "-".to_owned() } else { format!("{}{variant}", word(&value["model"])) }
    };
    let agents = report["agents"].as_array().expect("agents");
    agents.iter().map(|agent| (word(&agent["agent"]), word(&agent["standing"]), model(&agent["answered_by"]))).collect()
}

pub fn rows(table: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    table.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect()
}
