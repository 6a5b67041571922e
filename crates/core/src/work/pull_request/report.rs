//! What `gh pr view --json …` prints, as far as it is used. Fields that an older `gh` leaves out are empty.

use serde::{Deserialize, Deserializer};

/// The fields to ask for.
pub const FIELDS: &str = "state,url,headRefOid,headRefName,baseRefName,isDraft,mergeable,mergeStateStatus,\
    reviewDecision,statusCheckRollup,reviews,mergeCommit";

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct PullRequest {
    /// `OPEN`, `MERGED` or `CLOSED`.
    pub state: String,
    pub url: String,
    #[serde(rename = "headRefOid")]
    pub head: String,
    #[serde(rename = "headRefName")]
    pub branch: String,
    /// The branch that it is to be merged into.
    #[serde(rename = "baseRefName", deserialize_with = "or_default")]
    pub base: String,
    pub is_draft: bool,
    /// `MERGEABLE`, `CONFLICTING` or `UNKNOWN`.
    pub mergeable: String,
    /// `CLEAN`, `HAS_HOOKS`, `UNSTABLE`, `BEHIND`, `BLOCKED`, `DIRTY`, `DRAFT` or `UNKNOWN`.
    pub merge_state_status: String,
    /// `APPROVED`, `CHANGES_REQUESTED`, `REVIEW_REQUIRED`, or nothing where no review is required.
    #[serde(deserialize_with = "or_default")]
    pub review_decision: String,
    #[serde(rename = "statusCheckRollup", deserialize_with = "or_default")]
    pub checks: Vec<StatusCheck>,
    #[serde(deserialize_with = "or_default")]
    pub reviews: Vec<Review>,
    pub merge_commit: Option<Object>,
}

/// A check run, which has a status and a conclusion, or a commit status, which has a state.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct StatusCheck {
    #[serde(deserialize_with = "or_default")]
    name: String,
    #[serde(deserialize_with = "or_default")]
    context: String,
    #[serde(deserialize_with = "or_default")]
    status: String,
    #[serde(deserialize_with = "or_default")]
    conclusion: String,
    #[serde(deserialize_with = "or_default")]
    state: String,
    #[serde(deserialize_with = "or_default")]
    details_url: String,
    #[serde(deserialize_with = "or_default")]
    target_url: String,
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Pending,
    Passed,
    Failed,
    /// It ended and is no evidence about the work: it was cancelled, or waits for a person.
    Inconclusive,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Review {
    pub id: String,
    #[serde(deserialize_with = "or_default")]
    pub author: Account,
    #[serde(deserialize_with = "or_default")]
    pub author_association: String,
    #[serde(deserialize_with = "or_default")]
    pub body: String,
    /// `APPROVED`, `CHANGES_REQUESTED`, `COMMENTED`, `DISMISSED` or `PENDING`.
    pub state: String,
    /// The head that the reviewer saw.
    pub commit: Option<Object>,
}

/// A comment on a line, as the REST interface reports it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct LineComment {
    pub id: u64,
    pub path: String,
    pub line: Option<u64>,
    pub body: String,
    #[serde(deserialize_with = "or_default")]
    pub user: Account,
    #[serde(deserialize_with = "or_default")]
    pub author_association: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Account {
    pub login: String,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct Object {
    pub oid: String,
}

/// What a reviewer holds of the work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opinion {
    Approves,
    RequestsChanges,
}

impl PullRequest {
    /// Whether it is to be merged into this branch, as far as the service reports it.
    #[must_use]
    pub fn is_for(&self, base: &str) -> bool {
        self.base.is_empty() || self.base == base
    }

    /// Whether the service has not computed yet if it can be merged. It begins to when it is asked.
    #[must_use]
    pub fn is_uncertain(&self) -> bool {
        self.state == "OPEN" && (self.mergeable == "UNKNOWN" || self.merge_state_status == "UNKNOWN")
    }

    #[must_use]
    pub fn failed_checks(&self) -> Vec<&StatusCheck> {
        self.checks.iter().filter(|check| check.verdict() == Verdict::Failed).collect()
    }

    /// The newest opinion of each reviewer who may write to the repository. A comment is no opinion, and a dismissed
    /// review is none any more.
    #[must_use]
    pub fn opinions(&self) -> Vec<(&Review, Opinion)> {
        let mut newest: Vec<(&Review, Option<Opinion>)> = Vec::new();
        for review in self.reviews.iter().filter(|review| may_write(&review.author_association)) {
            let opinion = match review.state.as_str() {
                "APPROVED" => Some(Opinion::Approves),
                "CHANGES_REQUESTED" => Some(Opinion::RequestsChanges),
                "DISMISSED" => None,
                _ => continue,
            };
            newest.retain(|(earlier, _)| earlier.author != review.author);
            newest.push((review, opinion));
        }
        newest.into_iter().filter_map(|(review, opinion)| Some((review, opinion?))).collect()
    }
}

impl StatusCheck {
    #[must_use]
    pub fn name(&self) -> &str {
        if self.name.is_empty() { &self.context } else { &self.name }
    }

    #[must_use]
    pub fn url(&self) -> &str {
        if self.details_url.is_empty() { &self.target_url } else { &self.details_url }
    }

    /// The number of the GitHub Actions job, whose log can be read.
    #[must_use]
    pub fn job(&self) -> Option<&str> {
        let (run, job) = self.url().split_once("/actions/runs/")?.1.split_once("/job/")?;
        let job = job.split(['?', '#', '/']).next()?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        (is_number(run) && is_number(job)).then_some(job)
    }

    #[must_use]
    pub fn verdict(&self) -> Verdict {
        // A commit status has no `status`, and a check run that has not ended has no conclusion.
        if !self.status.is_empty() && self.status != "COMPLETED" {
            return Verdict::Pending;
        }
        let ended = if self.status.is_empty() { &self.state } else { &self.conclusion };
        match ended.as_str() {
            "SUCCESS" | "NEUTRAL" | "SKIPPED" => Verdict::Passed,
            "FAILURE" | "ERROR" | "TIMED_OUT" | "STARTUP_FAILURE" => Verdict::Failed,
            "PENDING" | "EXPECTED" => Verdict::Pending,
            _ => Verdict::Inconclusive,
        }
    }
}

impl LineComment {
    #[must_use]
    pub fn is_trusted(&self) -> bool {
        may_write(&self.author_association)
    }
}

fn may_write(association: &str) -> bool {
    matches!(association, "OWNER" | "MEMBER" | "COLLABORATOR")
}

/// `gh` prints `null` for some lists and texts that are empty.
fn or_default<'de, T: Default + Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<T, D::Error> {
    Ok(Option::deserialize(deserializer)?.unwrap_or_default())
}
