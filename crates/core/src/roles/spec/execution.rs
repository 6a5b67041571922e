//! Who works on a spec: a list of agents, in their order, with the validator always behind them.
//!
//! Invariant: a list with any fault names no agent, so nothing runs by mistake.

use super::document::{Said, Section};
use std::fmt;

word_enum! {
    /// The agents that a spec may name, in the order in which they work.
    #[derive(PartialOrd, Ord, Hash)]
    pub enum Agent {
        TestWriter = "test-writer",
        Implementer = "implementer",
        Documentation = "documentation",
    }
}

impl fmt::Display for Agent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One step of the work on a spec.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Role {
    Agent(Agent),
    /// The list does not name it: it is always the last.
    Validator,
}

impl Role {
    pub const VALIDATOR: &'static str = "validator";

    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Agent(agent) => agent.as_str(),
            Self::Validator => Self::VALIDATOR,
        }
    }
}

/// A line of the section.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub line: usize,
    pub what: Named,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Named {
    Agent(Agent),
    Validator,
    /// A list item that names no agent.
    Unknown(String),
    /// Something other than a list item.
    Text(String),
}

pub(super) fn items(section: Section<'_>) -> Vec<Item> {
    let headings =
        section.parts().map(|part| Item { line: part.heading.line, what: Named::Text(part.heading.title.clone()) });
    let mut items: Vec<Item> =
        section.said().map(|said| Item { line: said.line, what: named(said) }).chain(headings).collect();
    items.sort_by_key(|item| item.line);
    items
}

fn named(said: Said<'_>) -> Named {
    let Some(item) = bullet(said.text).filter(|_| !said.is_code) else { return Named::Text(said.text.to_owned()) };
    let name = item.trim_matches(['`', '*', '_']);
    match Agent::ALL.into_iter().find(|agent| agent.as_str() == name) {
        Some(agent) => Named::Agent(agent),
        None if name == Role::VALIDATOR => Named::Validator,
        None => Named::Unknown(item.to_owned()),
    }
}

/// The agents when the list is as it should be: only agents, each once, in their order.
pub(super) fn agents(items: &[Item]) -> Vec<Agent> {
    let named: Option<Vec<Agent>> = items
        .iter()
        .map(|item| match item.what {
            Named::Agent(agent) => Some(agent),
            Named::Validator | Named::Unknown(_) | Named::Text(_) => None,
        })
        .collect();
    named.filter(|agents| agents.is_sorted_by(|left, right| left < right)).unwrap_or_default()
}

/// The text of a list item.
pub(super) fn bullet(text: &str) -> Option<&str> {
    let item = text.trim_start().strip_prefix(['-', '*', '+'])?;
    item.starts_with([' ', '\t']).then(|| item.trim())
}
