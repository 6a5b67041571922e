//! A try that did not end well, as far as it matters for the next one.

use crate::{ErrorClass, experience::FailureMode};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub mode: FailureMode,
    pub class: Option<ErrorClass>,
    /// Two failures with the same signature are the same failure.
    pub signature: String,
    /// For people, and for the next try.
    pub detail: String,
    /// When what it ran into is over, when that is known.
    pub until: Option<i64>,
    pub lift: Lift,
}

/// Whether a stronger model could make a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Lift {
    Allowed,
    /// Nothing was done at all, or what was done is forbidden to any model.
    Useless,
}

impl Failure {
    const TRESPASS: &str = "trespass";

    /// A failure because files that belong to others were changed.
    #[must_use]
    pub fn trespass(detail: impl Into<String>) -> Self {
        let environment = Self::environment(Self::TRESPASS, detail);
        Self { mode: FailureMode::Blocked, ..environment }
    }

    #[must_use]
    pub fn is_trespass(&self) -> bool {
        self.mode == FailureMode::Blocked && self.signature == Self::TRESPASS
    }

    /// A failure of the environment of the work.
    #[must_use]
    pub fn environment(signature: impl Into<String>, detail: impl Into<String>) -> Self {
        Self {
            mode: FailureMode::Environment,
            class: None,
            signature: signature.into(),
            detail: detail.into(),
            until: None,
            lift: Lift::Useless,
        }
    }
}
