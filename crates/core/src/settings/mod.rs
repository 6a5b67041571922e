//! The shape of the configuration. `defaults.toml` beside this file is the one list of settings;
//! the types here give them meaning. Nothing is read from disk or the environment here.

mod agents;
mod change;
mod comments;
mod jobs;
mod layers;
mod literal;
mod merging;
mod open;
mod repository;
mod routing;
mod schema;
mod supervise;
mod variables;

pub use agents::{AgentGroup, AgentGroups};
pub use change::{Change, ChangeError, set};
pub use comments::{Section, sections};
pub use jobs::{Jobs, WorkerProfile, Workflow};
pub(crate) use layers::bad_value;
pub use layers::{ConfigError, Layer, Layered, Origin};
pub use merging::{Grep, MergeCheck, MergeMethod, Merging};
pub use repository::{Repository, remote_name};
pub use routing::{
    Availability, Batch, Budget, Catalogue, Classifier, Cooldowns, Fallback, FirstChoice, Patterns, Policy, Score, Tag,
    Via,
};
pub use schema::schema;
pub use supervise::{OfflineClaims, Supervise, micros};
pub use variables::{overrides_from_variables, setting_paths};

use crate::{
    ModelRef,
    values::{Rule, duration::Limit},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The built-in settings, as text.
pub const DEFAULTS: &str = include_str!("defaults.toml");

/// The same, in a form that is read faster.
const DEFAULTS_JSON: &str = include_str!(concat!(env!("OUT_DIR"), "/defaults.json"));

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    pub default_model: String,
    pub dispatch: Dispatch,
    pub sessions: Sessions,
    pub server: Server,
    pub store: Store,
    pub catalogue: Catalogue,
    pub policy: Policy,
    pub availability: Availability,
    pub budget: Budget,
    pub patterns: Patterns,
    pub via: BTreeMap<String, Via>,
    pub batch: Batch,
    pub consensus: Rule,
    pub supervise: Supervise,
    pub contest: Contest,
    pub repository: BTreeMap<String, Repository>,
    pub permissions: Permissions,
    pub jobs: Jobs,
    pub workers: BTreeMap<String, WorkerProfile>,
    pub workflows: BTreeMap<String, Workflow>,
    pub agent_groups: AgentGroups,
    pub fallback: Fallback,
    pub tier_order: Vec<String>,
    pub tiers: BTreeMap<String, Vec<String>>,
    pub tier_scores: BTreeMap<String, String>,
    pub tier_aliases: BTreeMap<String, String>,
    pub task_types: BTreeMap<String, String>,
    pub tags: BTreeMap<String, Tag>,
    pub profiles: BTreeMap<String, String>,
    pub scores: BTreeMap<String, Score>,
    pub classifier: Classifier,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dispatch {
    pub text_timeout: Limit,
    pub agent_timeout: Limit,
    pub command_timeout: Limit,
    pub first_token_timeout: Limit,
    pub inactivity_timeout: Limit,
    pub retry_wait_cap: Limit,
    pub provider_retries: u32,
    pub structured_retries: u32,
    pub answer_limit: usize,
    pub agent_steps: u32,
    pub permission_answer: PermissionAnswer,
}

/// How a permission question is answered when no person is there to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionAnswer {
    /// The model gets a refusal with the reason, and the run goes on.
    Reject,
    /// This one request is allowed.
    Once,
}

/// Which contests decide about later requests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Contest {
    pub max_age: Limit,
    /// In percent.
    pub min_margin: u32,
}

/// What happens when the agent of a supervised task asks for a permission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Permissions {
    pub ask: Ask,
    pub wait: Limit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ask {
    /// It is answered at once, as for any other run.
    Answer,
    /// The task waits for the answer of a person.
    Park,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Sessions {
    pub archive_after: Limit,
    pub archive_limit: u32,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Server {
    pub url: String,
    pub binary: String,
    pub start_timeout: Limit,
    pub call_timeout: Limit,
    pub idle_timeout: Limit,
    #[serde(deserialize_with = "crate::values::size::mebibytes")]
    pub memory_limit_mib: u64,
    pub health_interval: Limit,
    pub health_timeout: Limit,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Store {
    pub url: String,
}

impl Config {
    /// A tier's own name, for one of its names.
    #[must_use]
    pub fn tier_named<'a>(&'a self, name: &'a str) -> Option<&'a str> {
        let own = self.tier_aliases.get(name).map_or(name, String::as_str);
        self.tiers.get_key_value(own).map(|(tier, _)| tier.as_str())
    }

    /// The tier of a model that is listed in one tier and no other.
    #[must_use]
    pub fn only_tier_of(&self, model: &ModelRef) -> Option<&str> {
        let name = model.to_string();
        let mut listing = self.tiers.iter().filter(|(_, models)| models.contains(&name));
        let (tier, _) = listing.next()?;
        listing.next().is_none().then_some(tier.as_str())
    }

    /// How text prompts reach a provider.
    #[must_use]
    pub fn via(&self, provider: &str) -> Via {
        self.via.get(provider).or_else(|| self.via.get("default")).copied().unwrap_or_default()
    }

    /// The next stronger tier.
    #[must_use]
    pub fn tier_above(&self, tier: &str) -> Option<&str> {
        let place = self.tier_order.iter().position(|name| name == tier)?;
        self.tier_order.get(place + 1).map(String::as_str)
    }

    /// The next weaker tier.
    #[must_use]
    pub fn tier_below(&self, tier: &str) -> Option<&str> {
        let place = self.tier_order.iter().position(|name| name == tier)?.checked_sub(1)?;
        self.tier_order.get(place).map(String::as_str)
    }
}

#[cfg(test)]
mod tests;
