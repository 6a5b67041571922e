//! The shape of the configuration. `defaults.toml` beside this file is the one list of settings;
//! the types here give them meaning. Nothing is read from disk or the environment here.

mod layers;
mod variables;

pub use layers::{ConfigError, Layer, Layered, Origin};
pub use variables::overrides_from_variables;

use crate::{ModelRef, duration::Limit};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The built-in settings, as text.
pub const DEFAULTS: &str = include_str!("defaults.toml");

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    pub default_model: String,
    pub dispatch: Dispatch,
    pub sessions: Sessions,
    pub server: Server,
    pub store: Store,
    pub tiers: BTreeMap<String, Vec<String>>,
    pub task_types: BTreeMap<String, String>,
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

/// How a permission question is answered when nobody is there to ask.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PermissionAnswer {
    /// The model is told no, with the reason, and the run goes on.
    Reject,
    /// This one request is allowed.
    Once,
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
    pub idle_timeout: Limit,
    pub memory_limit_mib: u64,
    pub health_interval: Limit,
    pub health_timeout: Limit,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Store {
    pub url: String,
}

impl Config {
    /// Checks what the types alone cannot: references between the tables, and ranges.
    pub fn check(&self) -> Result<(), Vec<(String, String)>> {
        let mut faults = Vec::new();
        let mut fault = |key: String, what: String| faults.push((key, what));
        if !(1..=100).contains(&self.dispatch.agent_steps) {
            fault("dispatch.agent_steps".into(), format!("{} is not between 1 and 100", self.dispatch.agent_steps));
        }
        if !self.default_model.is_empty()
            && let Err(error) = self.default_model.parse::<ModelRef>()
        {
            fault("default_model".into(), error.to_string());
        }
        for (tier, models) in &self.tiers {
            for model in models {
                if let Err(error) = model.parse::<ModelRef>() {
                    fault(format!("tiers.{tier}"), error.to_string());
                }
            }
        }
        for (task_type, tier) in &self.task_types {
            if !self.tiers.contains_key(tier) {
                let known: Vec<&str> = self.tiers.keys().map(String::as_str).collect();
                fault(
                    format!("task_types.{task_type}"),
                    format!("`{tier}` is no tier; there are {}", known.join(", ")),
                );
            }
        }
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }
}

#[cfg(test)]
mod tests;
