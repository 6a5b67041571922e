//! The values that OpenCode refuses, in its own words. Only what its users get wrong, not its whole schema.

use super::ordered::Node;
use serde_json::{Value, json};

const TEXTS: [&str; 5] = ["model", "small_model", "default_agent", "username", "theme"];
const OBJECTS: [&str; 4] = ["provider", "agent", "command", "mcp"];
/// Permissions that take one action and no patterns.
const WITHOUT_PATTERNS: [&str; 5] = ["todowrite", "question", "webfetch", "websearch", "doom_loop"];

/// The issues of a whole configuration.
pub(super) fn configuration(config: &Node) -> Vec<Value> {
    let mut found = Found::default();
    for key in TEXTS {
        found.kind(config, &[key], "string | undefined", Value::is_string);
    }
    for key in OBJECTS {
        found.kind(config, &[key], "object | undefined", Value::is_object);
    }
    if let Some(permission) = config.get("permission") {
        found.permission(permission, &["permission"]);
    }
    for (name, agent) in config.get("agent").map(Node::entries).unwrap_or_default() {
        found.agent(agent, &["agent", name]);
    }
    for (provider, described) in config.get("provider").map(Node::entries).unwrap_or_default() {
        for (model, described) in described.get("models").map(Node::entries).unwrap_or_default() {
            for side in ["context", "output"] {
                let path = ["provider", provider, "models", model, "limit", side];
                let Some(limit) = described.get("limit") else { continue };
                match limit.get(side).map(Node::value) {
                    None => found.add(&path, "Missing key"),
                    Some(value) if !value.is_number() => found.add(&path, &format!("Expected number, got {value}")),
                    Some(_) => {}
                }
            }
        }
    }
    found.issues
}

/// The issues of the head of an agent file.
pub(super) fn agent_file(agent: &Node) -> Vec<Value> {
    let mut found = Found::default();
    found.agent(agent, &[]);
    found.issues
}

#[derive(Default)]
struct Found {
    issues: Vec<Value>,
}

impl Found {
    fn add(&mut self, path: &[&str], message: &str) {
        self.issues.push(json!({ "path": path, "message": message }));
    }

    fn kind(&mut self, node: &Node, path: &[&str], wanted: &str, fits: impl Fn(&Value) -> bool) {
        let value = path.last().and_then(|key| node.get(key)).map(Node::value);
        if let Some(value) = value.filter(|value| !fits(value)) {
            self.add(path, &format!("Expected {wanted}, got {value}"));
        }
    }

    fn agent(&mut self, agent: &Node, path: &[&str]) {
        let at = |key: &'static str| [path, &[key]].concat();
        for key in ["model", "description", "prompt", "variant"] {
            self.kind(agent, &at(key), "string | undefined", Value::is_string);
        }
        let mode = agent.get("mode").map(Node::value);
        if let Some(mode) = mode.filter(|mode| !["subagent", "primary", "all"].iter().any(|known| mode == known)) {
            self.add(&at("mode"), &format!("Expected \"subagent\" | \"primary\" | \"all\", got {mode}"));
        }
        if let Some(permission) = agent.get("permission") {
            self.permission(permission, &at("permission"));
        }
    }

    fn permission(&mut self, permission: &Node, path: &[&str]) {
        let is_action = |node: &Node| matches!(node.as_str(), Some("allow" | "ask" | "deny"));
        if let Node::Plain(value) = permission {
            if !is_action(permission) {
                self.add(path, &format!("Expected PermissionActionConfig | object | undefined, got {value}"));
            }
            return;
        }
        for (name, rule) in permission.entries() {
            let fits = match rule {
                Node::Plain(_) => is_action(rule),
                Node::Map(patterns) => {
                    !WITHOUT_PATTERNS.contains(&name.as_str()) && patterns.iter().all(|(_, action)| is_action(action))
                }
            };
            if !fits {
                let path = [path, &[name.as_str()]].concat();
                self.add(&path, &format!("Expected PermissionRuleConfig | undefined, got {}", rule.value()));
            }
        }
    }
}
