//! The model that an OpenCode agent's own description asks for, read from its file. Only what a decision without a
//! server needs: a server itself is asked before anything is sent.

use crate::Context;
use jsonc_parser::ParseOptions;
use std::path::{Path, PathBuf};

/// The nearest description of the agent that names a model.
pub(super) fn model_of(context: &Context, directory: &Path, agent: &str) -> Option<String> {
    if agent.split('/').any(|part| part.is_empty() || part == "..") {
        return None;
    }
    let places = places(context, directory);
    let in_file = |place: &PathBuf| {
        ["agent", "agents"].iter().find_map(|folder| {
            let text = std::fs::read_to_string(place.join(folder).join(format!("{agent}.md"))).ok()?;
            frontmatter_model(&text)
        })
    };
    places.iter().find_map(|place| in_file(place).or_else(|| configured_model(place, agent)))
}

/// Directories with descriptions, the nearest first.
fn places(context: &Context, directory: &Path) -> Vec<PathBuf> {
    let mut places = Vec::new();
    for level in directory.ancestors() {
        places.extend([level.join(".opencode"), level.to_owned()]);
        if level.join(".git").exists() {
            break;
        }
    }
    let home = context.variable("HOME").map(PathBuf::from).unwrap_or_default();
    let user = context.variable("XDG_CONFIG_HOME").map_or_else(|| home.join(".config"), PathBuf::from);
    places.extend([user.join("opencode"), home.join(".opencode")]);
    places.extend(context.variable("OPENCODE_CONFIG_DIR").map(PathBuf::from));
    places
}

fn frontmatter_model(text: &str) -> Option<String> {
    let mut lines = text.lines();
    lines.next().filter(|line| line.trim_end() == "---")?;
    let model = lines.take_while(|line| line.trim_end() != "---").find_map(|line| line.strip_prefix("model:"))?;
    let model = model.split(" #").next()?.trim().trim_matches(['"', '\'']);
    (!model.is_empty()).then(|| model.to_owned())
}

fn configured_model(place: &Path, agent: &str) -> Option<String> {
    ["opencode.jsonc", "opencode.json"].iter().find_map(|name| {
        let text = std::fs::read_to_string(place.join(name)).ok()?;
        let value: serde_json::Value = jsonc_parser::parse_to_serde_value(&text, &ParseOptions::default()).ok()?;
        Some(value.get("agent")?.get(agent)?.get("model")?.as_str()?.to_owned())
    })
}

#[cfg(test)]
mod tests {
    use super::frontmatter_model;

    #[test]
    fn the_model_is_read_from_the_head_alone() {
        let table = [
            ("---\ndescription: x\nmodel: opus # strong\n---\nbody", Some("opus")),
            ("---\nmodel: \"a/b@high\"\n---\n", Some("a/b@high")),
            ("---\ndescription: x\n---\nmodel: fake\n", None),
            ("model: fake\n", None),
            ("---\nmodel:\n---\n", None),
        ];
        for (text, expected) in table {
            assert_eq!(frontmatter_model(text).as_deref(), expected, "{text}");
        }
    }
}
