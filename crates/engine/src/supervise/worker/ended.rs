//! How an agent ended, as it is written down between the work and its evaluation.

use serde::{Deserialize, Serialize};
use switchyard_core::{DispatchId, Nano, task::End};
use switchyard_store::RunRecord;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) said: String,
    pub(super) asked: Option<String>,
    pub(super) answered: Option<String>,
    pub(super) cost: Nano,
    pub(super) cost_known: bool,
    /// What was changed in the parent checkout, by this agent as far as its calls tell.
    #[serde(default)]
    pub(super) trespass: Vec<String>,
    #[serde(default)]
    pub(super) dispatch: Option<DispatchId>,
}

impl Ended {
    pub(super) fn not_started(message: String) -> Self {
        Self::with(End::NotStarted { message })
    }

    pub(super) fn with(end: End) -> Self {
        Self {
            end,
            said: String::new(),
            asked: None,
            answered: None,
            cost: Nano::ZERO,
            cost_known: true,
            trespass: Vec::new(),
            dispatch: None,
        }
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The newest that was written down: by this claim, or by the one that it follows.
    pub(super) fn latest(runs: &[RunRecord]) -> Self {
        let written = |run: &RunRecord| serde_json::from_str(run.detail.as_deref()?).ok();
        runs.iter()
            .rev()
            .find_map(written)
            .unwrap_or_else(|| Self::not_started("how the agent ended was not written down".to_owned()))
    }
}
