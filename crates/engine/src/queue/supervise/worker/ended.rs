//! How an agent ended, as it is written down between the work and its evaluation.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use shuntyard_core::{
    DispatchId, Nano,
    experience::FailureMode,
    work::task::{Check, End, Failure, Findings, Receipt},
};
use shuntyard_store::RunRecord;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Ended {
    pub(super) end: End,
    pub(super) said: String,
    pub(super) asked: Option<String>,
    pub(super) answered: Option<String>,
    pub(super) cost: Nano,
    pub(super) cost_known: bool,
    /// What its calls show that this agent changed in the user's checkout.
    #[serde(default)]
    pub(super) trespass: Vec<String>,
    /// What else changed there meanwhile, in sentences.
    #[serde(default)]
    pub(super) notes: Vec<String>,
    #[serde(default)]
    pub(super) dispatch: Option<DispatchId>,
    /// The verify commands before the work.
    #[serde(default)]
    pub(super) before: Vec<Check>,
    /// Commits in the work that were not made for the task.
    #[serde(default)]
    pub(super) foreign: Vec<String>,
    /// Files in which work on an older commit contradicts the base.
    #[serde(default)]
    pub(super) conflicts: Vec<String>,
    /// An operation of the agent's that has not applied all of its commits.
    #[serde(default)]
    pub(super) unfinished: Option<String>,
}

impl Ended {
    pub(super) fn not_started(message: String) -> Self {
        Self::with(End::NotStarted { message })
    }

    /// Its workspace could not be made. What a person has to correct is no failure that passes.
    pub(super) fn not_prepared(failure: Failure) -> Self {
        Self::with(match failure.mode {
            FailureMode::Blocked => End::Blocked { message: failure.detail },
            _ => End::NotStarted { message: failure.detail },
        })
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
            notes: Vec::new(),
            dispatch: None,
            before: Vec::new(),
            foreign: Vec::new(),
            conflicts: Vec::new(),
            unfinished: None,
        }
    }

    fn of_findings(findings: Findings) -> Self {
        Self {
            said: findings.said,
            asked: findings.asked,
            answered: findings.answered,
            cost: findings.cost,
            cost_known: findings.cost_known,
            trespass: findings.trespass,
            before: findings.before,
            foreign: findings.foreign,
            conflicts: findings.unmerged,
            unfinished: findings.unfinished,
            notes: findings.notes,
            ..Self::with(findings.end)
        }
    }

    pub(super) fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Whether the agent itself says that it is done.
    pub(super) fn is_good(&self) -> bool {
        match &self.end {
            End::Answered => true,
            End::Exit { exit } => exit.is_green(),
            End::Failed { .. }
            | End::Stopped { .. }
            | End::NotStarted { .. }
            | End::RepositoryLost
            | End::GreenBefore
            | End::Blocked { .. } => false,
        }
    }

    /// The newest that was written down: by this claim, by the one that it follows, or in the receipt of an
    /// evaluation that could not be finished.
    pub(super) fn latest(runs: &[RunRecord], receipt: Option<&Value>) -> Self {
        let written = |run: &RunRecord| serde_json::from_str(run.detail.as_deref()?).ok();
        let receipt: Option<Receipt> = receipt.and_then(|receipt| serde_json::from_value(receipt.clone()).ok());
        let evaluated = receipt.map(|receipt| (receipt.epoch, Self::of_findings(receipt.findings)));
        let told = runs.iter().rev().find_map(|run| Some((run.epoch, written(run)?)));
        let newest = match (told, evaluated) {
            (Some((epoch, told)), Some((at, _))) if epoch > at => Some(told),
            (_, Some((_, evaluated))) => Some(evaluated),
            (told, None) => told.map(|(_, told)| told),
        };
        newest.unwrap_or_else(|| Self::not_started("how the agent ended was not written down".to_owned()))
    }
}
