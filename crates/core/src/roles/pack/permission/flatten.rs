//! From the keys of an agent file to the list of its rules, in OpenCode's order.
//!
//! `tools` comes before `permission`; a name in both keeps the place of the first and the value of the second.
//! Names that are whole numbers come before all others, in their order as numbers. The array `permissions` is of
//! the next version: OpenCode 1.18 takes it for an option of the model, so it counts only in a file without the
//! other two.

use super::{Action, Rule};
use crate::roles::pack::{
    frontmatter::Frontmatter,
    yaml::{Entry, Node, Value},
};

/// Permissions that OpenCode takes only one action for, and no patterns.
const WITHOUT_PATTERNS: [&str; 5] = ["todowrite", "question", "webfetch", "websearch", "doom_loop"];

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Flattened {
    pub rules: Vec<Rule>,
    pub wrong: Vec<Wrong>,
}

/// A value that is no rule. For all of these OpenCode refuses the whole configuration of the directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub line: usize,
    pub what: String,
}

#[must_use]
pub fn flatten(front: &Frontmatter) -> Flattened {
    let mut flat = Flattened::default();
    let mut keys: Vec<(String, Vec<Rule>)> = Vec::new();
    for entry in front.get("tools").map(|tools| in_order(&tools.value)).unwrap_or_default() {
        let permission = match entry.key.as_str() {
            "write" | "edit" | "patch" => "edit",
            other => other,
        };
        match entry.value.truth() {
            Some(true) => put(&mut keys, permission, vec![rule(permission, "*", Action::Allow, entry.line)]),
            Some(false) => put(&mut keys, permission, vec![rule(permission, "*", Action::Deny, entry.line)]),
            None => flat.wrong(entry.line, format!("tool {:?} must be true or false", entry.key)),
        }
    }
    if let Some(entry) = front.get("permission") {
        flat.permission(entry, &mut keys);
    }
    keys.sort_by_key(|(key, _)| whole_number(key));
    flat.rules = keys.into_iter().flat_map(|(_, rules)| rules).collect();
    let first_version = front.get("permission").or_else(|| front.get("tools"));
    if let (None, Some(entry)) = (first_version, front.get("permissions")) {
        flat.array(entry);
    }
    flat
}

fn rule(permission: &str, pattern: &str, action: Action, line: usize) -> Rule {
    Rule { permission: permission.into(), pattern: pattern.into(), action, line: Some(line) }
}

impl Flattened {
    fn wrong(&mut self, line: usize, what: String) {
        self.wrong.push(Wrong { line, what });
    }

    fn permission(&mut self, entry: &Entry, keys: &mut Vec<(String, Vec<Rule>)>) {
        match &entry.value.value {
            Value::Plain(_) | Value::Quoted(_) => {
                if let Some(action) = self.action(&entry.value, entry) {
                    put(keys, "*", vec![rule("*", "*", action, entry.line)]);
                }
            }
            Value::Map(_) => {
                for key in in_order(&entry.value) {
                    let rules = self.key(key);
                    put(keys, &key.key, rules);
                }
            }
            Value::Null | Value::List(_) => self.wrong(entry.line, "permission must be an action or a map".into()),
        }
    }

    fn key(&mut self, entry: &Entry) -> Vec<Rule> {
        if entry.value.entries().is_empty() {
            let action = self.action(&entry.value, entry);
            return action.map(|action| rule(&entry.key, "*", action, entry.line)).into_iter().collect();
        }
        if WITHOUT_PATTERNS.contains(&entry.key.as_str()) {
            self.wrong(entry.line, format!("{:?} takes one action, not patterns", entry.key));
        }
        let mut rules = Vec::new();
        for pattern in in_order(&entry.value) {
            if let Some(action) = self.action(&pattern.value, pattern) {
                rules.push(rule(&entry.key, &pattern.key, action, pattern.line));
            }
        }
        rules
    }

    fn action(&mut self, node: &Node, entry: &Entry) -> Option<Action> {
        let action = node.text().and_then(Action::parse);
        let empty_map = matches!(&node.value, Value::Map(entries) if entries.is_empty());
        if action.is_none() && !empty_map {
            self.wrong(entry.line, format!("{:?} must be allow, ask or deny", entry.key));
        }
        action
    }

    /// Either the names of the first version or those of the second: `action` means something else in each.
    fn array(&mut self, entry: &Entry) {
        let Value::List(items) = &entry.value.value else {
            return self.wrong(entry.line, "permissions must be a list".into());
        };
        for item in items {
            let field = |name: &str| item.get(name).and_then(|entry| entry.value.text());
            let second = field("effect").is_some();
            let names = if second { ["action", "resource", "effect"] } else { ["permission", "pattern", "action"] };
            let [permission, pattern, action] = names.map(field);
            match (permission, pattern, action.and_then(Action::parse)) {
                (Some(permission), Some(pattern), Some(action)) => {
                    self.rules.push(rule(permission, pattern, action, item.line));
                }
                _ => self.wrong(item.line, format!("a rule needs {}", names.join(", "))),
            }
        }
    }
}

/// Sets a key as an object does: one that is there keeps its place.
fn put(keys: &mut Vec<(String, Vec<Rule>)>, key: &str, rules: Vec<Rule>) {
    match keys.iter_mut().find(|(known, _)| known == key) {
        Some((_, old)) => *old = rules,
        None => keys.push((key.to_owned(), rules)),
    }
}

/// The entries as OpenCode meets them.
fn in_order(node: &Node) -> Vec<&Entry> {
    let mut entries: Vec<&Entry> = node.entries().iter().collect();
    entries.sort_by_key(|entry| whole_number(&entry.key));
    entries
}

/// The keys that are whole numbers come first, by size; all others after them, equal to each other.
fn whole_number(key: &str) -> u32 {
    let number = key.parse::<u32>().ok().filter(|number| *number < u32::MAX && number.to_string() == key);
    number.unwrap_or(u32::MAX)
}
