//! Outcomes: how work ended, kept one by one and counted by week, so that what was learned is read without going
//! through the past.

use serde_json::Value;
use shuntyard_core::{
    DispatchId, ErrorClass, Nano,
    experience::{Evidence, FailureMode, Verdict},
    word_enum,
};

/// A week, in microseconds. Weeks are counted from the Unix epoch.
pub const WEEK_MICROS: i64 = 7 * 86_400 * 1_000_000;

/// The beginning of the week in which a moment lies.
#[must_use]
pub fn week(at: i64) -> i64 {
    at.div_euclid(WEEK_MICROS).saturating_mul(WEEK_MICROS)
}

/// How a piece of work ended, and who did it.
#[derive(Debug, Clone, PartialEq)]
pub struct NewOutcome {
    pub at: i64,
    /// The attempt that it is about. The same attempt has one outcome, however often it is reported.
    pub attempt: Option<(DispatchId, u32)>,
    pub task: Option<String>,
    pub batch: Option<String>,
    /// Empty when the kind of task is not known.
    pub task_type: String,
    /// What was asked for, e.g. `{"task_type":"code-review"}`.
    pub requested: Value,
    /// The tier that was asked for, and the one that did it.
    pub asked_tier: Option<String>,
    pub tier: Option<String>,
    /// `provider/model[@variant]`.
    pub model: String,
    /// How the work was done: the mode of a dispatch, or a word of the process that records it.
    pub strategy: String,
    pub verdict: Verdict,
    /// Only for a failure; one without means that the model did not manage.
    pub failure_mode: Option<FailureMode>,
    pub error_class: Option<ErrorClass>,
    pub evidence: Evidence,
    /// 0 to 2.
    pub quality: Option<u8>,
    pub tokens: u64,
    pub cost: Nano,
    pub cost_known: bool,
    pub duration_ms: u64,
    pub retries: u32,
    /// The directory of the repository; empty when there is none.
    pub repository: String,
    /// How probable the choice was, in millionths, when it was left to chance.
    pub propensity: Option<u32>,
    /// What is remembered of the task's text. Never with a secret.
    pub text: String,
}

impl NewOutcome {
    /// Whether it is evidence of what the model can do.
    #[must_use]
    pub fn counts(&self) -> bool {
        match self.verdict {
            Verdict::Success => true,
            Verdict::Failure => self.failure_mode.is_none_or(FailureMode::counts),
        }
    }
}

/// An outcome as it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct OutcomeRecord {
    pub id: i64,
    pub outcome: NewOutcome,
}

/// A second judgement of an outcome. It replaces the first one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    pub verdict: Verdict,
    pub failure_mode: Option<FailureMode>,
    pub evidence: Evidence,
    pub quality: Option<u8>,
}

/// Which outcomes are wanted; what is `None` does not matter.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct OutcomeFilter {
    /// From this moment on, and before that one.
    pub from: Option<i64>,
    pub until: Option<i64>,
    pub task_type: Option<String>,
    pub model: Option<String>,
    pub repository: Option<String>,
    /// Only those with a higher id: the way to read on.
    pub after: i64,
    pub limit: u32,
}

word_enum! {
    /// How outcomes are sorted when a part of them is wanted.
    pub enum OutcomeOrder {
        /// By id, the oldest first.
        Oldest = "oldest",
        /// By time, the newest first; `after` is ignored.
        Newest = "newest",
    }
}
