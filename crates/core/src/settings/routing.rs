//! The settings that choose models: tags, scores, fallback, policy, availability.

use crate::values::{Capability, Sign, Trigger, duration::Limit};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Catalogue {
    pub max_age: Limit,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    pub allow_providers: Vec<String>,
    pub deny_providers: Vec<String>,
}

impl Policy {
    #[must_use]
    pub fn allows(&self, provider: &str) -> bool {
        let listed = |list: &[String]| list.iter().any(|name| name == provider);
        (self.allow_providers.is_empty() || listed(&self.allow_providers)) && !listed(&self.deny_providers)
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Availability {
    pub health_ttl: Limit,
    pub limit_ttl: Limit,
    pub probe_timeout: Limit,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Budget {
    pub time_zone: String,
    pub day_starts_at: String,
    pub degrade_percent: u32,
    pub stop_percent: u32,
    pub warn_percent: u32,
    pub out_percent: u32,
    pub expected_output: u64,
    pub strict: bool,
    pub unknown_allowed: bool,
}

/// How a text prompt reaches a provider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Via {
    #[default]
    Auto,
    Opencode,
    Direct,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Batch {
    pub at_once: usize,
    pub at_once_per_provider: usize,
    pub lists: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Patterns {
    pub choose: bool,
    pub samples: u32,
    pub success_percent: u32,
    pub below_top_percent: u32,
    pub tolerance_points: u32,
    pub half_life: Limit,
    pub repository_samples: u32,
    pub explore_percent: u32,
    pub text_limit: usize,
    pub drift_notice_percent: u32,
    pub drift_warning_percent: u32,
    pub hard: Vec<String>,
}

impl Patterns {
    /// Zero when outcomes do not age.
    #[must_use]
    pub fn half_life_micros(&self) -> i64 {
        self.half_life.0.map_or(0, |life| i64::try_from(life.as_micros()).unwrap_or(i64::MAX))
    }
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Fallback {
    pub depth: usize,
    pub triggers: Vec<Trigger>,
    pub default: Vec<String>,
    pub cooldowns: Cooldowns,
    pub tiers: BTreeMap<String, Vec<String>>,
    pub agents: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Cooldowns {
    pub rate_limit: Limit,
    pub overloaded: Limit,
    pub timeout: Limit,
    pub api_error: Limit,
    pub auth_error: Limit,
    pub quota: Limit,
    pub longest: Limit,
}

impl Cooldowns {
    /// How long a failure keeps its target away; `None` when it does not. `asked` is the wait that the provider itself
    /// asked for.
    #[must_use]
    pub fn after(&self, trigger: Trigger, asked: Option<Duration>) -> Option<Duration> {
        let own = match trigger {
            Trigger::RateLimit => self.rate_limit.0,
            Trigger::Overloaded => self.overloaded.0,
            Trigger::Timeout => self.timeout.0,
            Trigger::ApiError => self.api_error.0,
            Trigger::AuthError => self.auth_error.0,
            Trigger::Quota => self.quota.0,
            // It depends on the prompt, so it is no evidence about the next one.
            Trigger::Capability => None,
        }?;
        let longest = self.longest.0.unwrap_or(Duration::MAX);
        Some(own.max(asked.unwrap_or_default().min(longest)))
    }
}

/// An OpenCode setting that a tag tries before any score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FirstChoice {
    Model,
    SmallModel,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tag {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first: Option<FirstChoice>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<Capability>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wants: Vec<Capability>,
    pub score: String,
}

/// Points for each trait of a model.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Score {
    pub cheap: i64,
    pub strong: i64,
    pub middle: i64,
    pub recent: i64,
    pub context: i64,
    pub reasoning: i64,
    pub vision: i64,
    pub tools: i64,
    pub words: i64,
    pub prefer: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Classifier {
    /// Empty: the rules alone classify.
    pub model: String,
    pub deadline: Limit,
    pub keep: Limit,
    pub default_tier: String,
    pub threshold: i64,
    /// In characters, as is `long`.
    pub short: usize,
    pub long: usize,
    pub opening_words: usize,
    pub opening_points: i64,
    /// The phrases of each task type.
    pub words: BTreeMap<String, Vec<String>>,
    /// The points that each sign gives to task types.
    pub signs: BTreeMap<Sign, BTreeMap<String, i64>>,
}
