//! What others know and a decision takes into account: a contest's winner, an agent's own wish, experience,
//! a text's looks, and the budget. Each is optional, and a missing one is said in the trace.

use super::{Trigger, classify::Classified};
use crate::ModelRef;
use std::collections::BTreeMap;

/// Experience counts from this many samples with this share of successes, in percent.
pub const PATTERN_SAMPLES: u32 = 3;
pub const PATTERN_SUCCESS: u32 = 75;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Advice {
    /// The winner of a contest that was held for this task.
    pub contest: Option<ModelRef>,
    pub agent: Option<AgentWish>,
    pub pattern: Option<Pattern>,
    pub classified: Option<Classified>,
    pub budget: Budget,
}

/// The model that an OpenCode agent's own description asks for: a model, a tag or a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentWish {
    pub agent: String,
    pub model: String,
}

/// The cheapest tier that has done such tasks well.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    pub tier: String,
    pub samples: u32,
    pub success_percent: u32,
}

impl Pattern {
    #[must_use]
    pub fn counts(&self) -> bool {
        self.samples >= PATTERN_SAMPLES && self.success_percent >= PATTERN_SUCCESS
    }
}

/// What the budget says, each with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Budget {
    /// Whether any limit is set at all.
    pub is_set: bool,
    /// Why nothing at all may be spent.
    pub closed: Option<String>,
    /// Tiers that give way to the next cheaper one.
    pub degraded: BTreeMap<String, String>,
    /// Providers that are asked only for a cheaper tier than the one that was wanted.
    pub low: BTreeMap<String, String>,
    /// Providers that have nothing left.
    pub exhausted: BTreeMap<String, String>,
    /// Providers that are paid for already, and come first.
    pub preferred: BTreeMap<String, String>,
    /// What should be said although it changes nothing.
    pub notes: Vec<String>,
}

/// A model that this request has asked already, and what was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    pub model: ModelRef,
    pub trigger: Trigger,
}
