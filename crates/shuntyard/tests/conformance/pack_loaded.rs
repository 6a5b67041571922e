//! OpenCode loads what the workflow pack installs.

use crate::{own_env, pack_server::Served};
use serde_json::{Value, json};

const AGENTS: [&str; 11] = [
    "documentation",
    "executor",
    "implementer",
    "init",
    "model-config",
    "orchestrator",
    "research",
    "shipper",
    "task-planner",
    "test-writer",
    "validator",
];
const COMMANDS: [&str; 14] = [
    "code-loop",
    "code-review",
    "commit",
    "compare-models",
    "execute",
    "final-review",
    "orchestrator.models",
    "orchestrator.status",
    "orchestrator.worker-model",
    "orchestrator.workers",
    "patterns",
    "planning",
    "route",
    "system-review",
];

#[test]
fn opencode_loads_what_was_installed() {
    let env = own_env("pack-opencode");
    env.run(&["pack", "install", "--mcp"]).expect_code(0);
    let server = Served::start(&env);
    let agents = server.get("/agent");
    let agents = agents.as_array().expect("agents");
    let agent = |name: &str| agents.iter().find(|agent| agent["name"] == name).unwrap_or_else(|| panic!("{name}"));
    for name in AGENTS {
        let mode = if name == "orchestrator" { "primary" } else { "subagent" };
        assert_eq!(agent(name)["mode"], mode, "{name}");
        let rules = agent(name)["permission"].as_array().expect("rules");
        assert!(rules.contains(&json!({"permission": "*", "pattern": "*", "action": "deny"})), "{name}");
        assert!(agent(name)["prompt"].as_str().is_some_and(|prompt| prompt.len() > 400), "{name}");
        assert_eq!(agent(name)["options"], json!({}), "{name}: nothing goes to the provider");
    }
    let rule =
        |permission: &str, pattern: &str| json!({"permission": permission, "pattern": pattern, "action": "allow"});
    let has = |name: &str, wanted: Value| agent(name)["permission"].as_array().expect("rules").contains(&wanted);
    assert!(has("orchestrator", rule("task", "validator")) && has("orchestrator", rule("shuntyard_dispatch", "*")));
    assert!(has("shipper", rule("bash", "git commit -m \"*\"")) && has("init", rule("question", "*")));
    let commands = server.get("/command");
    for name in COMMANDS {
        let commands = commands.as_array().expect("commands");
        let command = commands.iter().find(|command| command["name"] == name).unwrap_or_else(|| panic!("{name}"));
        let agent = if name == "commit" { "shipper" } else { "orchestrator" };
        assert_eq!(command["agent"], agent, "{name}");
        assert!(command["template"].as_str().is_some_and(|template| template.contains("$ARGUMENTS")), "{name}");
    }
    let servers = server.get("/mcp");
    assert_eq!(servers["shuntyard"]["status"], "connected", "{servers:#}");
}
