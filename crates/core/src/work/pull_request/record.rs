//! What a task remembers of its pull request, over all of its attempts.

use super::PullRequestState;
use serde::{Deserialize, Serialize};

/// Objections that are remembered, at most; the oldest go first.
const ANSWERED: usize = 200;

/// A state, with the reason for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Assessment {
    pub state: PullRequestState,
    pub detail: String,
}

impl From<PullRequestState> for Assessment {
    fn from(state: PullRequestState) -> Self {
        Self { state, detail: String::new() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PullRequestRecord {
    pub url: String,
    /// The commit that was proposed last, and when.
    pub head: String,
    pub proposed_at: i64,
    #[serde(flatten)]
    pub assessment: Assessment,
    /// Failed checks and review comments that an attempt was started for. None of them starts a second one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answered: Vec<String>,
    /// Earlier heads with the same work, on an older base.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rebased: Vec<String>,
    /// Attempts that its reviewers asked for since a person last asked for one.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub rounds: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
fn is_zero(rounds: &u32) -> bool {
    *rounds == 0
}

/// Whether the pull request was looked at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Assessed {
    Now(Assessment),
    /// It was opened or its head was replaced just now, or nothing could be learned.
    No,
}

impl PullRequestRecord {
    /// The record after a commit was proposed or looked at.
    #[must_use]
    pub fn proposed(before: Option<Self>, url: &str, head: &str, now: i64, assessed: Assessed) -> Self {
        let opened = Assessment { state: PullRequestState::CiPending, detail: "no check has started yet".to_owned() };
        let mut record = match before {
            Some(before) if before.url == url && before.head == head => before,
            // Another head: its checks start anew. Another pull request has none of the old comments.
            Some(before) => Self { proposed_at: now, assessment: opened, ..before },
            None => Self {
                url: String::new(),
                head: String::new(),
                proposed_at: now,
                assessment: opened,
                answered: Vec::new(),
                rebased: Vec::new(),
                rounds: 0,
            },
        };
        (record.url, record.head) = (url.to_owned(), head.to_owned());
        if let Assessed::Now(assessment) = assessed {
            record.assessment = assessment;
        }
        record
    }

    /// Another attempt is made for these objections.
    pub fn revise(&mut self, assessment: Assessment, answers: Vec<String>) {
        self.assessment = assessment;
        // The next head is other work: it has no approval yet.
        self.rebased.clear();
        self.answered.extend(answers);
        self.answered.drain(..self.answered.len().saturating_sub(ANSWERED));
    }

    /// Whether it was seen as merged or closed.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        matches!(self.assessment.state, PullRequestState::Merged | PullRequestState::Closed)
    }

    /// Whether this head is to be rebased before it is proposed again.
    #[must_use]
    pub fn wants_rebase(&self, head: &str) -> bool {
        self.rebased.last().is_some_and(|last| last == head)
    }
}
