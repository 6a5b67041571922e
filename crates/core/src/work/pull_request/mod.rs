//! Pull requests: what the reports of the hosting service mean for the task that opened one.
//!
//! Invariant: text and approvals count only from people who may write to the repository. All users may comment on a
//! public one, and that text would reach an agent.

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

word_enum! {
    /// The states of a pull request, as far as they lead to different actions.
    pub enum PullRequestState {
        /// There is none.
        NoPr = "no_pr",
        Draft = "draft",
        /// A check has not ended, or more may still start.
        CiPending = "ci_pending",
        CiFailed = "ci_failed",
        ChangesRequested = "changes_requested",
        /// Its checks did not fail, and it still cannot be merged as it is: a conflict, an old base, an unfinished
        /// check.
        Unstable = "unstable",
        /// Nothing but an approval may be missing.
        Ready = "ready",
        Merged = "merged",
        Closed = "closed",
    }
}
