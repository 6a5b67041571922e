//! What others know and a decision takes into account: a contest's winner, an agent's own wish, experience,
//! the text's classification, and the budget. Each is optional, and the trace notes a missing one.

use super::classify::Classified;
use crate::ModelRef;
use crate::values::Trigger;
use std::collections::BTreeMap;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Advice {
    /// The advice of contests for such tasks, for a request that names neither a model nor a tier.
    pub contest: Option<ContestAdvice>,
    pub agent: Option<AgentWish>,
    pub pattern: Option<Pattern>,
    pub classified: Option<Classified>,
    pub budget: Budget,
}

/// The advice of contests for such tasks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContestAdvice {
    /// `None` when no contest is clear and new enough to go by.
    pub winner: Option<ModelRef>,
    /// Which contest, how long ago and how clear; or why none counts.
    pub said: String,
}

/// The model that an OpenCode agent's own description asks for: a model, a tag or a tier.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentWish {
    pub agent: String,
    pub model: String,
}

/// The advice of experience with such tasks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pattern {
    /// The tier that it would be given to; `None` when experience is not enough to go by.
    pub tier: Option<String>,
    /// Why.
    pub said: String,
    /// How probable this choice was, in millionths, when another might have been tried.
    pub propensity: Option<u32>,
}

/// The advice of the budget, each part with its reason.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Budget {
    /// Whether any limit is set at all.
    pub is_set: bool,
    /// Why nothing at all may be spent.
    pub closed: Option<String>,
    /// Tiers that are downgraded to the next cheaper one, as long as there is one.
    pub degraded: BTreeMap<String, String>,
    /// Tiers that have nothing left.
    pub used_up: BTreeMap<String, String>,
    /// Providers that are asked only for a cheaper tier than the one that was wanted.
    pub low: BTreeMap<String, String>,
    /// Providers that have nothing left.
    pub exhausted: BTreeMap<String, String>,
    /// Providers that are paid for already, and come first.
    pub preferred: BTreeMap<String, String>,
    /// Notes for the trace that change nothing.
    pub notes: Vec<String>,
}

impl Budget {
    /// Why a tier is downgraded, if it is.
    #[must_use]
    pub fn downgraded_tier(&self, tier: &str) -> Option<&str> {
        self.used_up.get(tier).or_else(|| self.degraded.get(tier)).map(String::as_str)
    }

    /// Whether anything is kept away by it.
    pub(super) fn restrains(&self) -> bool {
        !(self.degraded.is_empty() && self.used_up.is_empty() && self.low.is_empty() && self.exhausted.is_empty())
    }
}

/// A model that this request has asked already, and what was wrong with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    pub model: ModelRef,
    pub trigger: Trigger,
}
