//! Agents and commands that are described in Markdown files with a head of YAML.

use super::{Broken, check, ordered::Node};
use serde_json::Value;
use shuntyard_core::roles::pack::{
    Frontmatter,
    yaml::{self, Entry},
};
use std::path::{Path, PathBuf};

/// The part of a configuration that a folder's files make up.
pub(super) fn read(folder: &Path) -> Result<Node, Broken> {
    let mut config = Node::default();
    for (key, names) in [("agent", ["agent", "agents"]), ("command", ["command", "commands"])] {
        let mut described = Node::default();
        for root in names.map(|name| folder.join(name)) {
            let mut files = Vec::new();
            collect(&root, &mut files);
            files.sort();
            for file in files {
                let below = file.strip_prefix(&root).unwrap_or(&file).with_extension("");
                let Ok(text) = std::fs::read_to_string(&file) else { continue };
                let body = if key == "agent" { "prompt" } else { "template" };
                let entry = document(&text, body);
                if key == "agent" {
                    let issues = check::agent_file(&entry);
                    if !issues.is_empty() {
                        return Err(Broken::invalid(&file, issues));
                    }
                }
                let name = entry.string("name").map_or_else(|| below.to_string_lossy().into_owned(), str::to_owned);
                described.set(&name, entry);
            }
        }
        if !described.entries().is_empty() {
            config.set(key, described);
        }
    }
    Ok(config)
}

/// A head that cannot be read makes the whole file the body, as OpenCode has it.
fn document(text: &str, body: &str) -> Node {
    let mut node = Node::default();
    let Ok(front) = Frontmatter::parse(text) else {
        node.set(body, Node::text(text.trim()));
        return node;
    };
    for entry in front.entries() {
        node.set(&entry.key, value(entry));
    }
    let after = text.split_once("\n---").map_or("", |(_, after)| after);
    let after = after.split_once('\n').map_or("", |(_, after)| after);
    node.set(body, Node::text(after.trim()));
    node
}

fn value(entry: &Entry) -> Node {
    of_yaml(&entry.value)
}

fn of_yaml(node: &yaml::Node) -> Node {
    match &node.value {
        yaml::Value::Null => Node::Plain(Value::Null),
        yaml::Value::Quoted(text) => Node::text(text),
        yaml::Value::Plain(text) if node.text().is_some() => Node::text(text),
        yaml::Value::Plain(text) => match node.truth() {
            Some(truth) => Node::Plain(Value::Bool(truth)),
            None => Node::Plain(serde_json::from_str(text).unwrap_or_else(|_| Value::from(text.as_str()))),
        },
        yaml::Value::List(items) => Node::Plain(items.iter().map(|item| of_yaml(item).value()).collect()),
        yaml::Value::Map(entries) => Node::Map(entries.iter().map(|entry| (entry.key.clone(), value(entry))).collect()),
    }
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
}
