//! The agents of a directory with the rules that each works under: OpenCode's own and those of the configuration.

use super::{config::Node, machine::Machine};
use serde_json::{Map, Value, json};
use shuntyard_core::roles::pack::{
    Action, Rule,
    frontmatter::KNOWN_KEYS,
    permission::{opencode_defaults, with_home},
};

#[derive(Debug, Clone)]
pub(super) struct Agent {
    pub name: String,
    pub mode: String,
    pub description: Option<String>,
    pub prompt: Option<String>,
    pub model: Option<String>,
    pub variant: Option<String>,
    pub temperature: Option<f64>,
    pub options: Map<String, Value>,
    pub rules: Vec<Rule>,
    native: bool,
    pub hidden: bool,
}

/// Name, mode, hidden, and the rules beside the usual ones.
type Native = (&'static str, &'static str, bool, &'static [(&'static str, &'static str, Action)]);

const NOTHING: &[(&str, &str, Action)] = &[("*", "*", Action::Deny)];
const NATIVE: [Native; 7] = [
    ("build", "primary", false, &[("question", "*", Action::Allow), ("plan_enter", "*", Action::Allow)]),
    ("compaction", "primary", true, NOTHING),
    (
        "explore",
        "subagent",
        false,
        &[
            ("*", "*", Action::Deny),
            ("grep", "*", Action::Allow),
            ("glob", "*", Action::Allow),
            ("list", "*", Action::Allow),
            ("bash", "*", Action::Allow),
            ("webfetch", "*", Action::Allow),
            ("websearch", "*", Action::Allow),
            ("read", "*", Action::Allow),
            ("external_directory", "*", Action::Ask),
        ],
    ),
    ("general", "subagent", false, &[("todowrite", "*", Action::Deny)]),
    (
        "plan",
        "primary",
        false,
        &[
            ("question", "*", Action::Allow),
            ("plan_exit", "*", Action::Allow),
            ("task", "general", Action::Deny),
            ("edit", "*", Action::Deny),
            ("edit", ".opencode/plans/*.md", Action::Allow),
        ],
    ),
    ("summary", "primary", true, NOTHING),
    ("title", "primary", true, NOTHING),
];

pub(super) fn read(machine: &Machine, config: &Node) -> Vec<Agent> {
    let home = machine.home.to_string_lossy();
    let of_user = config.get("permission").map(rules_of).unwrap_or_default();
    let usual = [opencode_defaults(), own_places(machine)].concat();
    let mut agents: Vec<Agent> = NATIVE
        .iter()
        .map(|(name, mode, hidden, rules)| {
            let own = rules.iter().map(|(permission, pattern, action)| Rule::own(permission, pattern, *action));
            let rules = usual.iter().cloned().chain(own).chain(of_user.clone()).collect();
            let (name, mode) = ((*name).to_owned(), (*mode).to_owned());
            Agent { rules, native: true, hidden: *hidden, ..Agent::named(name, mode) }
        })
        .collect();
    for (name, described) in config.get("agent").map(Node::entries).unwrap_or_default() {
        let at = agents.iter().position(|agent| agent.name == *name);
        if described.get("disable").map(Node::value) == Some(json!(true)) {
            at.map(|at| agents.remove(at));
            continue;
        }
        let at = at.unwrap_or_else(|| {
            let rules = [usual.clone(), of_user.clone()].concat();
            agents.push(Agent { rules, ..Agent::named(name.clone(), "all".to_owned()) });
            agents.len() - 1
        });
        agents[at].describe(described);
    }
    for agent in &mut agents {
        agent.rules.extend(own_places(machine).into_iter().take(1));
        agent.rules = with_home(&agent.rules, &home);
    }
    agents.sort_by_key(|agent| (agent.name != "build", agent.name.clone()));
    agents
}

/// The directories for long outputs and temporary files, which every agent may use.
fn own_places(machine: &Machine) -> Vec<Rule> {
    let outputs = machine.data_directory().join("tool-output/*");
    let temporary = machine.variable("TMPDIR").unwrap_or("/tmp");
    let allow = |pattern: &str| Rule::own("external_directory", pattern, Action::Allow);
    vec![allow(&outputs.to_string_lossy()), allow(&format!("{temporary}/opencode/*"))]
}

impl Agent {
    fn named(name: String, mode: String) -> Self {
        Self {
            name,
            mode,
            description: None,
            prompt: None,
            model: None,
            variant: None,
            temperature: None,
            options: Map::new(),
            rules: Vec::new(),
            native: false,
            hidden: false,
        }
    }

    fn describe(&mut self, described: &Node) {
        let text = |key: &str| described.string(key).filter(|text| !text.is_empty()).map(str::to_owned);
        self.mode = text("mode").unwrap_or_else(|| self.mode.clone());
        self.description = text("description").or(self.description.take());
        self.prompt = text("prompt").or(self.prompt.take());
        self.model = text("model").or(self.model.take());
        self.variant = text("variant").or(self.variant.take());
        self.temperature = described.get("temperature").and_then(|value| value.value().as_f64());
        if let Some(Value::Object(options)) = described.get("options").map(Node::value) {
            self.options.extend(options);
        }
        // What OpenCode does not know is sent to the provider.
        let unknown = described.entries().iter().filter(|(key, _)| !KNOWN_KEYS.contains(&key.as_str()));
        self.options.extend(unknown.map(|(key, value)| (key.clone(), value.value())));
        for (tool, wanted) in described.get("tools").map(Node::entries).unwrap_or_default() {
            let permission = if matches!(tool.as_str(), "write" | "edit" | "patch") { "edit" } else { tool };
            let action = if wanted.value() == json!(true) { Action::Allow } else { Action::Deny };
            self.rules.push(Rule::own(permission, "*", action));
        }
        self.rules.extend(described.get("permission").map(rules_of).unwrap_or_default());
    }

    /// As `GET /agent` has it.
    pub fn json(&self) -> Value {
        let mut agent = json!({
            "name": self.name, "mode": self.mode, "native": self.native, "permission": rules_json(&self.rules),
            "options": self.options,
        });
        let mut set = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                agent[key] = value;
            }
        };
        set("description", self.description.as_ref().map(|text| json!(text)));
        set("prompt", self.prompt.as_ref().map(|text| json!(text)));
        set("variant", self.variant.as_ref().map(|text| json!(text)));
        set("hidden", self.hidden.then_some(json!(true)));
        set(
            "model",
            self.model.as_ref().map(|name| {
                let (provider, model) = name.split_once('/').unwrap_or((name, ""));
                json!({ "providerID": provider, "modelID": model })
            }),
        );
        agent
    }
}

pub(super) fn rules_json(rules: &[Rule]) -> Value {
    let json =
        |rule: &Rule| json!({ "permission": rule.permission, "pattern": rule.pattern, "action": rule.action.as_str() });
    rules.iter().map(json).collect()
}

/// The rules of a list as sessions have it.
pub(super) fn listed_rules(list: &Value) -> Vec<Rule> {
    let rule = |rule: &Value| {
        let action = Action::parse(rule["action"].as_str()?)?;
        Some(Rule::own(rule["permission"].as_str()?, rule["pattern"].as_str()?, action))
    };
    list.as_array().into_iter().flatten().filter_map(rule).collect()
}

/// The rules of a `permission` as a configuration has it, in the order in which OpenCode meets them.
fn rules_of(permission: &Node) -> Vec<Rule> {
    let action = |node: &Node| node.as_str().and_then(Action::parse);
    if let Some(action) = action(permission) {
        return vec![Rule::own("*", "*", action)];
    }
    let mut rules = Vec::new();
    for (name, value) in in_order(permission) {
        if let Some(action) = action(value) {
            rules.push(Rule::own(name, "*", action));
        }
        for (pattern, value) in in_order(value) {
            rules.extend(action(value).map(|action| Rule::own(name, pattern, action)));
        }
    }
    rules
}

/// Keys that are whole numbers come first, by size.
fn in_order(node: &Node) -> Vec<&(String, Node)> {
    let mut entries: Vec<&(String, Node)> = node.entries().iter().collect();
    let number = |key: &str| key.parse::<u32>().ok().filter(|number| number.to_string() == key).unwrap_or(u32::MAX);
    entries.sort_by_key(|(key, _)| number(key));
    entries
}
