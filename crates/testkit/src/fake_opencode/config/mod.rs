//! OpenCode's configuration of one directory: its layers from the weakest to the strongest, with what Markdown files
//! describe, or the answer that a broken one gives to every request.

mod check;
mod markdown;
mod ordered;

pub(super) use ordered::Node;

use super::machine::{Machine, worktree};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The body of the refusal.
#[derive(Debug, Clone)]
pub(super) struct Broken(pub Value);

impl Broken {
    fn invalid(file: &Path, issues: Vec<Value>) -> Self {
        Self(json!({ "name": "ConfigInvalidError", "data": { "path": file, "issues": issues } }))
    }
}

pub(super) fn load(machine: &Machine, directory: &Path) -> Result<Node, Broken> {
    let mut config = Node::default();
    let global = machine.config_directory();
    for name in ["config.json", "opencode.json", "opencode.jsonc"] {
        config.merge(file(machine, &global.join(name))?);
    }
    if let Some(path) = machine.variable("OPENCODE_CONFIG") {
        config.merge(file(machine, &directory.join(path))?);
    }
    let project = project(machine, directory);
    for path in project.iter().rev() {
        config.merge(both(machine, path)?);
    }
    // Among these folders the outermost is the strongest.
    let mut folders = vec![global];
    folders.extend(project.iter().map(|path| path.join(".opencode")));
    folders.push(machine.home.join(".opencode"));
    folders.extend(machine.variable("OPENCODE_CONFIG_DIR").map(|path| directory.join(path)));
    for (index, folder) in folders.iter().enumerate() {
        if index > 0 && !folders[..index].contains(folder) {
            config.merge(both(machine, folder)?);
        }
        config.merge(markdown::read(folder)?);
    }
    if let Some(text) = machine.variable("OPENCODE_CONFIG_CONTENT") {
        config.merge(parse(machine, Path::new("OPENCODE_CONFIG_CONTENT"), directory, text)?);
    }
    if let Some(permission) = machine.variable("OPENCODE_PERMISSION").and_then(|text| Node::parse(text).ok()) {
        let mut stronger = Node::default();
        stronger.set("permission", permission);
        config.merge(stronger);
    }
    Ok(config)
}

/// The directory and its parents up to the root of the repository.
pub(super) fn project(machine: &Machine, directory: &Path) -> Vec<PathBuf> {
    if machine.flag("OPENCODE_DISABLE_PROJECT_CONFIG") {
        return Vec::new();
    }
    let root = worktree(directory);
    directory.ancestors().take_while(|path| path.starts_with(&root)).map(Path::to_path_buf).collect()
}

fn both(machine: &Machine, folder: &Path) -> Result<Node, Broken> {
    let mut config = file(machine, &folder.join("opencode.json"))?;
    config.merge(file(machine, &folder.join("opencode.jsonc"))?);
    Ok(config)
}

fn file(machine: &Machine, path: &Path) -> Result<Node, Broken> {
    if !path.is_file() {
        return Ok(Node::default());
    }
    let text = std::fs::read_to_string(path).unwrap_or_default();
    parse(machine, path, path.parent().unwrap_or(Path::new("/")), &text)
}

fn parse(machine: &Machine, path: &Path, base: &Path, text: &str) -> Result<Node, Broken> {
    let text = substitute(machine, path, base, text)?;
    let config = Node::parse(&text).map_err(|error| {
        let place = format!("at line {}, column {}", error.line_display(), error.column_display());
        let faults = format!("InvalidSymbol {place}\n   Line {}: ...", error.line_display());
        let message = format!("\n--- JSONC Input ---\n{text}\n--- Errors ---\n{faults}\n--- End ---");
        Broken(json!({ "name": "ConfigJsonError", "data": { "path": path, "message": message } }))
    })?;
    let issues = check::configuration(&config);
    if issues.is_empty() { Ok(config) } else { Err(Broken::invalid(path, issues)) }
}

/// `{env:NAME}` and `{file:path}`, replaced before the text is parsed.
fn substitute(machine: &Machine, path: &Path, base: &Path, text: &str) -> Result<String, Broken> {
    let text = replaced(text, "{env:", |name| Ok(machine.variable(name).unwrap_or_default().to_owned()))?;
    replaced(&text, "{file:", |name| {
        let file = name.strip_prefix("~/").map_or_else(|| base.join(name), |rest| machine.home.join(rest));
        let content = std::fs::read_to_string(&file).map_err(|_| {
            let message = format!("bad file reference: \"{{file:{name}}}\" {} does not exist", file.display());
            Broken(json!({ "name": "ConfigInvalidError", "data": { "path": path, "message": message } }))
        })?;
        let quoted = Value::from(content.trim()).to_string();
        Ok(quoted[1..quoted.len() - 1].to_owned())
    })
}

fn replaced(text: &str, opening: &str, value: impl Fn(&str) -> Result<String, Broken>) -> Result<String, Broken> {
    let (mut out, mut rest) = (String::with_capacity(text.len()), text);
    while let Some((before, after)) = rest.split_once(opening) {
        let Some((name, behind)) = after.split_once('}') else { break };
        out.push_str(before);
        out.push_str(&value(name)?);
        rest = behind;
    }
    out.push_str(rest);
    Ok(out)
}
