//! What may differ from the configuration for one dispatch.

use super::{ChosenFor, transport::Company};
use crate::routing::budget::{Concern, CostCheck};
use shuntyard_agents::opencode::Approver;
use shuntyard_core::{
    DispatchId, Nano,
    routing::Exchange,
    settings::{self, Via},
    values::{Mode, Urgency, duration::Limit},
};
use shuntyard_store::HealthSource;
use std::sync::Arc;

/// What is learned from a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Learning {
    #[default]
    All,
    /// How it went, without its text: the words are ours.
    NoText,
    /// Nothing: it is a question about other answers.
    Nothing,
}

/// What may differ from the configuration for one dispatch.
#[derive(Debug, Clone)]
pub struct Options {
    /// The id to use when the caller has already reserved money under it.
    pub id: Option<DispatchId>,
    pub timeout: Option<Limit>,
    pub steps: Option<u32>,
    pub provider_retries: Option<u32>,
    /// Whether a model that was named may be exchanged for another when it fails.
    pub exchange: Exchange,
    /// What the whole dispatch may cost.
    pub max_cost: Option<Nano>,
    pub urgency: Urgency,
    /// What it is charged to besides, and whose limits hold for it too.
    pub task: Option<String>,
    pub batch: Option<String>,
    /// The choice that the exact model of the request came from, when it was made before.
    pub chosen_for: Option<ChosenFor>,
    /// The kind of task, for what is learned from it, when something else chooses the model.
    pub task_type: Option<String>,
    /// The task in its own words, where the prompt puts rules of ours around it: what is remembered and classified.
    pub subject: Option<String>,
    pub learning: Learning,
    /// Whether the text itself may choose, when nothing else does.
    pub classify: bool,
    /// How it reaches its model, when the configuration is not to say it.
    pub via: Option<Via>,
    pub company: Company,
    /// What its outcome is noted as; a dispatch unless it is a probe.
    pub observed_as: Option<HealthSource>,
    /// A server of its own by this name, for a new session.
    pub slot: Option<String>,
    pub session_model: SessionModel,
    /// Decides about permissions that the agent asks for; without it the configuration does.
    pub approver: Option<Arc<dyn Approver>>,
}

/// Whether a session may be gone on with by another model than the one that it had last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SessionModel {
    #[default]
    Same,
    Any,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            id: None,
            timeout: None,
            steps: None,
            provider_retries: None,
            exchange: Exchange::Routed,
            max_cost: None,
            urgency: Urgency::Normal,
            task: None,
            batch: None,
            chosen_for: None,
            task_type: None,
            subject: None,
            learning: Learning::All,
            classify: false,
            via: None,
            company: Company::Alone,
            observed_as: None,
            slot: None,
            session_model: SessionModel::Same,
            approver: None,
        }
    }
}

/// A command brings its own plan; this only ends one that runs in circles.
const COMMAND_STEPS: u32 = 100;

impl Options {
    /// Steps that a run may take.
    pub(crate) fn most_steps(&self, settings: &settings::Dispatch, mode: Mode) -> u32 {
        match mode {
            Mode::Text => 1,
            Mode::Agent => self.steps.unwrap_or(settings.agent_steps),
            Mode::Command => self.steps.unwrap_or(COMMAND_STEPS),
        }
    }

    /// What its outcome is noted as.
    pub(super) fn source(&self) -> HealthSource {
        self.observed_as.unwrap_or(HealthSource::Dispatch)
    }

    /// Whose limits hold for it.
    pub(crate) fn concern(&self) -> Concern<'_> {
        Concern { task: self.task.as_deref(), batch: self.batch.as_deref(), everybody: false }
    }

    /// How long the whole dispatch may take.
    pub(super) fn total(&self, settings: &settings::Dispatch, mode: Mode) -> Limit {
        self.timeout.unwrap_or(match mode {
            Mode::Text => settings.text_timeout,
            Mode::Agent => settings.agent_timeout,
            Mode::Command => settings.command_timeout,
        })
    }
}

impl<'a> From<&'a Options> for CostCheck<'a> {
    fn from(options: &'a Options) -> Self {
        Self { concern: options.concern(), urgency: options.urgency }
    }
}
