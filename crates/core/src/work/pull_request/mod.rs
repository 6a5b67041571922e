//! Pull requests: what the reports of the hosting service mean for the task that opened one.
//!
//! Invariant: text and approvals count only from people who may write to the repository. Anybody may comment on a public
//! one, and that text would reach an agent.

mod assess;
mod record;
mod report;
mod revision;
#[cfg(test)]
mod tests;

pub use assess::{Reporting, assess, is_approved, may_merge, needs_rebase};
pub use record::{Assessed, Assessment, PullRequestRecord};
pub use report::{FIELDS, LineComment, Opinion, PullRequest, Review, StatusCheck, Verdict};
pub use revision::{Objections, objections};

use serde::{Deserialize, Serialize};

/// The states of a pull request, as far as they lead to different actions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PullRequestState {
    /// There is none.
    NoPr,
    Draft,
    /// A check has not ended, or more may still start.
    CiPending,
    CiFailed,
    ChangesRequested,
    /// Its checks did not fail, and it still cannot be merged as it is: a conflict, an old base, an unfinished check.
    Unstable,
    /// Nothing but an approval may be missing.
    Ready,
    Merged,
    Closed,
}

impl PullRequestState {
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::NoPr => "no_pr",
            Self::Draft => "draft",
            Self::CiPending => "ci_pending",
            Self::CiFailed => "ci_failed",
            Self::ChangesRequested => "changes_requested",
            Self::Unstable => "unstable",
            Self::Ready => "ready",
            Self::Merged => "merged",
            Self::Closed => "closed",
        }
    }
}
