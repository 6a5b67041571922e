//! From how many objections on a change is fixed, or others are asked.

use super::Percent;
use serde::{Deserialize, Serialize};

/// The lesser first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    Info,
    Minor,
    Major,
    Critical,
}

/// The lesser first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    Pass,
    /// Reviewers of the next tier are asked.
    SecondOpinion,
    Fix,
}

/// From how many objections on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AtLeast {
    Count(usize),
    /// Of all that were asked, rounded up to the next reviewer.
    Percent(Percent),
}

impl AtLeast {
    /// Never fewer than one: a threshold of zero would always be met.
    pub(crate) fn of(self, asked: usize) -> usize {
        match self {
            Self::Count(count) => count.max(1),
            Self::Percent(percent) => percent.of(asked).max(1),
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub struct Threshold {
    pub at_least: AtLeast,
    pub then: Outcome,
}

/// The default is made for five: up to one objection passes, two ask the next tier, three are fixed. As shares, for
/// other numbers: one alone is fixed, of two one asks and both fix, of three two fix, of four two ask and three fix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", default, deny_unknown_fields)]
pub struct Rule {
    /// Findings below this are remarks, not objections.
    pub counts_from: Severity,
    pub thresholds: Vec<Threshold>,
}

impl Default for Rule {
    fn default() -> Self {
        let at = |percent, then| Threshold { at_least: AtLeast::Percent(Percent::new(percent)), then };
        Self { counts_from: Severity::Minor, thresholds: vec![at(40, Outcome::SecondOpinion), at(60, Outcome::Fix)] }
    }
}
