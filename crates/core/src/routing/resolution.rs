//! A decision with everything that led to it.

use crate::ModelRef;
use crate::values::ModelPolicy;
use serde::{Deserialize, Serialize};

/// What kind of request decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Rule {
    /// The model was named.
    Explicit,
    TaskType,
    Tier,
    Tag,
    Profile,
    /// The model that the agent itself asks for.
    Agent,
    /// The winner of an earlier contest.
    Contest,
    /// What has worked before.
    Pattern,
    /// The classification of the text.
    Classifier,
    Default,
}

word_enum! {
    /// The part of the decision that a step of the trace belongs to, in the order in which they are taken.
    pub enum Step {
        Contest = "contest",
        Explicit = "explicit",
        Agent = "agent",
        Pattern = "pattern",
        Classifier = "classifier",
        Default = "default",
        Tier = "tier",
        Tag = "tag",
        Score = "score",
        Budget = "budget",
        Availability = "availability",
        Fallback = "fallback",
    }
}

/// Something that was looked at on the way, and what became of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceStep {
    pub step: Step,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub candidate: Option<String>,
    pub chosen: bool,
    pub why: String,
}

impl TraceStep {
    pub(super) fn note(step: Step, why: impl Into<String>) -> Self {
        Self { step, candidate: None, chosen: false, why: why.into() }
    }

    pub(super) fn about(step: Step, candidate: impl ToString, why: impl Into<String>) -> Self {
        Self { step, candidate: Some(candidate.to_string()), chosen: false, why: why.into() }
    }

    pub(super) fn chosen(step: Step, candidate: impl ToString, why: impl Into<String>) -> Self {
        Self { step, candidate: Some(candidate.to_string()), chosen: true, why: why.into() }
    }
}

/// A model that could have been chosen as well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Candidate {
    pub model: String,
    pub score: i64,
    /// What keeps it from being asked now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waits: Option<String>,
}

/// Models that could not be chosen, by reason: all of them are counted, some of them are named.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rejected {
    pub why: String,
    pub count: usize,
    pub models: Vec<String>,
}

/// The model, and why it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Resolution {
    pub rule: Rule,
    pub reason: String,
    pub policy: ModelPolicy,
    /// The kind of task, when one was named or recognised.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_type: Option<String>,
    /// The tier that the model was taken from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    /// The tier that was asked for, when it is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_tier: Option<String>,
    pub trace: Vec<TraceStep>,
    /// The best of those that could be chosen.
    pub candidates: Vec<Candidate>,
    /// How many could be chosen.
    pub considered: usize,
    pub rejected: Vec<Rejected>,
    /// How probable this choice was, in millionths, when another tier might have been tried instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propensity: Option<u32>,
    #[serde(skip)]
    pub model: ModelRef,
    /// Warnings for the requester although the choice stands.
    #[serde(skip)]
    pub warnings: Vec<String>,
}
