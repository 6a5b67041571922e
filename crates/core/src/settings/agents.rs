//! OpenCode's agents in groups that share a model, and what recommends that model.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AgentGroups {
    pub med: Vec<String>,
    pub low: Vec<String>,
    pub med_model: String,
    pub low_model: String,
}

word_enum! {
    /// A group of agents that get the same model.
    pub enum AgentGroup {
        Med = "med",
        Low = "low",
    }
}

impl AgentGroups {
    #[must_use]
    pub fn agents(&self, group: AgentGroup) -> &[String] {
        match group {
            AgentGroup::Med => &self.med,
            AgentGroup::Low => &self.low,
        }
    }

    /// The tier, tag or model that the recommendation comes from.
    #[must_use]
    pub fn model(&self, group: AgentGroup) -> &str {
        match group {
            AgentGroup::Med => &self.med_model,
            AgentGroup::Low => &self.low_model,
        }
    }

    #[must_use]
    pub fn group_of(&self, agent: &str) -> Option<AgentGroup> {
        AgentGroup::ALL.into_iter().find(|group| self.agents(*group).iter().any(|name| name == agent))
    }
}
