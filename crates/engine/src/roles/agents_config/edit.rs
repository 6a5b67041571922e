//! The configuration with the chosen models in it, and writing it.

use super::{AgentsConfigError, Choice, ConfigFile};
use crate::roles::pack::{PackError, diff::unified_config, disk::Disk};
use shuntyard_core::roles::pack::jsonc::{JsoncError, remove_value, set_value};
use std::os::unix::fs::PermissionsExt;

/// What a configuration file becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    pub file: ConfigFile,
    pub text: String,
    /// Empty when nothing changes.
    pub diff: String,
}

impl Edit {
    #[must_use]
    pub fn changes(&self) -> bool {
        !self.diff.is_empty()
    }
}

pub fn edit(file: ConfigFile, choices: &[Choice]) -> Result<Edit, AgentsConfigError> {
    let after = with_models(&file.text, choices)
        .map_err(|source| AgentsConfigError::Text { path: file.path.clone(), source })?;
    // A new file that would name no agent is not worth making.
    let changes = after != file.text;
    let before = if file.exists { file.text.as_str() } else { "" };
    let diff = if changes { unified_config(&file.path.display().to_string(), before, &after) } else { String::new() };
    Ok(Edit { file, text: after, diff })
}

fn with_models(text: &str, choices: &[Choice]) -> Result<String, JsoncError> {
    let mut text = text.to_owned();
    for choice in choices {
        for agent in &choice.agents {
            let at = |field| ["agent", agent.as_str(), field];
            text = set_value(&text, &at("model"), &choice.model.base().into())?;
            // A variant of another model would mean nothing to this one.
            text = match &choice.model.variant {
                Some(variant) => set_value(&text, &at("variant"), &variant.as_str().into())?,
                None => remove_value(&text, &at("variant"))?,
            };
        }
    }
    Ok(text)
}

/// Puts the new text in the file's place, whole or not at all.
pub fn write(edit: &Edit) -> Result<(), AgentsConfigError> {
    if !edit.changes() {
        return Ok(());
    }
    let path = &edit.file.path;
    if let Some(directory) = path.parent() {
        let made = std::fs::create_dir_all(directory);
        made.map_err(|source| PackError::Io { doing: "make", path: directory.to_owned(), source })?;
    }
    let mode = path.metadata().ok().map(|found| found.permissions().mode());
    Ok(Disk::default().write(path, edit.text.as_bytes(), mode)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use shuntyard_core::settings::AgentGroup;

    fn choice(model: &str, agents: &[&str]) -> Choice {
        let agents = agents.iter().map(|name| (*name).to_owned()).collect();
        Choice { group: AgentGroup::Med, model: model.parse().unwrap(), agents }
    }

    #[test]
    fn models_and_variants_are_set_and_an_old_variant_leaves() {
        let before = "{\n  // mine\n  \"agent\": {\n    \"a\": { \"model\": \"x/y\", \"variant\": \"high\", \"own\": 1 },\n  },\n  \"unknown\": [1],\n}\n";
        let plain = with_models(before, &[choice("p/m", &["a"])]).unwrap();
        assert_eq!(plain, before.replace("x/y", "p/m").replace("\"variant\": \"high\", ", ""));
        let varied = with_models(before, &[choice("p/m@low", &["a", "b"])]).unwrap();
        let expected = before.replace("x/y", "p/m").replace("high", "low").replace(
            "\"own\": 1 },\n",
            "\"own\": 1 },\n    \"b\": {\n      \"model\": \"p/m\",\n      \"variant\": \"low\"\n    },\n",
        );
        assert_eq!(varied, expected);
        assert_eq!(with_models(&varied, &[choice("p/m@low", &["a", "b"])]).unwrap(), varied, "twice is once");
    }

    #[test]
    fn a_difference_shows_no_keys() {
        let text =
            "{\n  \"provider\": { \"p\": { \"options\": { \"apiKey\": \"hush-hush\" } } },\n  \"agent\": {}\n}\n";
        let file = ConfigFile { path: "/x/opencode.json".into(), text: text.into(), exists: true };
        let made = edit(file, &[choice("p/m", &["a"])]).unwrap();
        assert!(made.diff.contains("p/m") && made.diff.contains("apiKey"), "{}", made.diff);
        assert!(!made.diff.contains("hush-hush") && made.text.contains("hush-hush"), "{}", made.diff);
    }

    #[test]
    fn a_new_file_is_whole_and_keeps_its_mode_when_changed() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let path = scratch.path().join("deep/opencode.jsonc");
        let file = ConfigFile { path: path.clone(), text: "{\n  \"$schema\": \"s\"\n}\n".into(), exists: false };
        let made = edit(file, &[choice("p/m", &["a"])]).unwrap();
        assert!(made.diff.contains("+      \"model\": \"p/m\""), "{}", made.diff);
        write(&made).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
        let again = edit(ConfigFile { path: path.clone(), text, exists: true }, &[choice("p/n", &["a"])]).unwrap();
        write(&again).unwrap();
        assert!(std::fs::read_to_string(&path).unwrap().contains("p/n"));
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
