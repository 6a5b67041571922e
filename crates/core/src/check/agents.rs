//! Which agents a group may name, and what recommends its model.

use super::Faults;
use crate::{
    routing::request::Selector,
    settings::{AgentGroup, Config},
};

/// Those who lead and plan keep the model that the user gave them.
const LEFT_ALONE: [&str; 2] = ["orchestrator", "task-planner"];

impl Config {
    pub(super) fn check_agent_groups(&self, faults: &mut Faults) {
        let groups = &self.agent_groups;
        let mut seen: Vec<(&str, AgentGroup)> = Vec::new();
        for group in AgentGroup::ALL {
            let key = format!("agent_groups.{}", group.as_str());
            for name in groups.agents(group) {
                if let Some(problem) = problem(name, group, &seen) {
                    faults.push((key.clone(), problem));
                }
                seen.push((name, group));
            }
            if let Err(error) = Selector::from_reference(groups.model(group), self) {
                faults.push((format!("{key}_model"), error.to_string()));
            }
        }
    }
}

fn problem(name: &str, group: AgentGroup, seen: &[(&str, AgentGroup)]) -> Option<String> {
    if name.is_empty() || name.chars().any(|letter| letter.is_whitespace() || letter.is_control()) {
        return Some(format!("{name:?} is no name of an agent"));
    }
    if LEFT_ALONE.contains(&name) {
        return Some(format!("`{name}` is in no group: it keeps the model that it has"));
    }
    match seen.iter().find(|(known, _)| *known == name) {
        Some((_, other)) if *other == group => Some(format!("`{name}` is there twice")),
        Some((_, other)) => Some(format!("`{name}` is in `{}` already", other.as_str())),
        None => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::settings::{Layer, Layered, Origin};

    fn fault(text: &str) -> Option<String> {
        let layer = Layer { origin: Origin::File("config.toml".into()), text: format!("[agent_groups]\n{text}\n") };
        Layered::merge(&[layer]).err().map(|error| error.to_string())
    }

    #[test]
    fn the_built_in_groups_are_apart() {
        let groups = Layered::merge(&[]).unwrap().config.agent_groups;
        assert_eq!(groups.med, ["validator", "test-writer", "documentation", "init"]);
        assert_eq!(groups.low, ["implementer", "research", "executor", "shipper", "model-config"]);
        assert_eq!((groups.group_of("orchestrator"), groups.group_of("task-planner")), (None, None));
    }

    #[test]
    fn groups_that_cannot_be_are_refused_with_the_reason() {
        let table = [
            ("med = [\"a\", \"b\", \"a\"]", "`a` is there twice"),
            ("med = [\"executor\"]", "`executor` is in `med` already"),
            ("low = [\"orchestrator\"]", "`orchestrator` is in no group"),
            ("low = [\"task-planner\"]", "`task-planner` is in no group"),
            ("low = [\"two words\"]", "is no name of an agent"),
            ("low_model = \"half/\"", "half a model name"),
        ];
        for (text, expected) in table {
            let found = fault(text);
            assert!(found.as_ref().is_some_and(|found| found.contains(expected)), "{text}: {found:?}");
        }
        assert_eq!(fault("med = [\"mine\"]\nlow = []\nlow_model = \"auto:fast\""), None);
    }
}
