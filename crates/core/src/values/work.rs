//! What settings define for work, in the form in which tasks and workflows take it.

use serde::{Deserialize, Serialize};

/// What becomes of work that is good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Deliver {
    /// The branch is left, ready.
    #[default]
    Branch,
    /// Rebased on the base, verified again, and the base moved forward to it.
    Merge,
    /// A pull request.
    Pr,
}

/// The numbers that the ladder of a task goes by. Times are microseconds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Tries on the same tier after the first, with what was learned.
    pub reinforcements: u32,
    /// How many tiers a task may rise.
    pub rises: u32,
    /// From the weakest to the strongest.
    pub tier_order: Vec<String>,
    /// How long a task rests after a limit, one entry for each time in a row; then the last one again.
    pub rests: Vec<i64>,
    /// How long it rests after trouble that is likely to pass.
    pub trouble_rests: Vec<i64>,
    /// How often in a row a worker may vanish.
    pub losses: u32,
    /// Whether a task that needs a person is looked into first.
    pub diagnose: Diagnose,
}

impl Rules {
    #[must_use]
    pub fn tier_above(&self, tier: &str) -> Option<&str> {
        let place = self.tier_order.iter().position(|name| name == tier)?;
        self.tier_order.get(place + 1).map(String::as_str)
    }
}

/// Whether a model diagnoses what has failed for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Diagnose {
    Never,
    /// Once for each task.
    Once,
}

/// One step, as it is configured.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowStep {
    pub name: String,
    /// The worker profile that does it.
    pub profile: String,
    /// What it is asked, before the task and what came before.
    pub prompt: String,
    /// Another model than the profile's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// It has to judge whether the work is good, in a form that can be read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub judges: bool,
    /// It is needed only when the step of this name did not find the work good.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unless_approved_by: Option<String>,
}
