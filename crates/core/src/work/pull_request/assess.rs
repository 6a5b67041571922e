//! The state of a pull request, and what may be done with it.

use super::{Assessment, Opinion, PullRequest, PullRequestRecord, PullRequestState, Verdict};
use crate::settings::Merging;

/// Whether checks may still start for a head, besides those that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reporting {
    MayStart,
    Complete,
}

/// `found` is none when the service has no such pull request.
#[must_use]
pub fn assess(found: Option<&PullRequest>, reporting: Reporting) -> Assessment {
    let of = |state, detail: String| Assessment { state, detail };
    let Some(found) = found else {
        return of(PullRequestState::NoPr, "there is no such pull request any more".to_owned());
    };
    match found.state.as_str() {
        "MERGED" => return of(PullRequestState::Merged, String::new()),
        "CLOSED" => return of(PullRequestState::Closed, "it was closed without being merged".to_owned()),
        _ if found.is_draft => return of(PullRequestState::Draft, "it is a draft".to_owned()),
        _ => {}
    }
    let pending = named(found, Verdict::Pending);
    if !pending.is_empty() {
        return of(PullRequestState::CiPending, format!("not ended yet: {pending}"));
    }
    let failed = named(found, Verdict::Failed);
    if !failed.is_empty() {
        return of(PullRequestState::CiFailed, format!("failed: {failed}"));
    }
    if reporting == Reporting::MayStart {
        let detail = if found.checks.is_empty() { "no check has started yet" } else { "more checks may start" };
        return of(PullRequestState::CiPending, detail.to_owned());
    }
    if requests_changes(found) {
        return of(PullRequestState::ChangesRequested, "a reviewer asks for changes".to_owned());
    }
    match obstacle(found) {
        Some(obstacle) => of(PullRequestState::Unstable, obstacle),
        None => of(PullRequestState::Ready, String::new()),
    }
}

fn named(found: &PullRequest, verdict: Verdict) -> String {
    let names = found.checks.iter().filter(|check| check.verdict() == verdict).map(|check| check.name().to_owned());
    names.collect::<Vec<_>>().join(", ")
}

fn requests_changes(found: &PullRequest) -> bool {
    let asked = || found.opinions().iter().any(|(_, opinion)| *opinion == Opinion::RequestsChanges);
    found.review_decision == "CHANGES_REQUESTED" || (found.review_decision.is_empty() && asked())
}

/// Why it cannot be merged although its checks did not fail.
fn obstacle(found: &PullRequest) -> Option<String> {
    let inconclusive = named(found, Verdict::Inconclusive);
    let text = match (found.mergeable.as_str(), found.merge_state_status.as_str()) {
        ("CONFLICTING", _) | (_, "DIRTY") => "it conflicts with its base".to_owned(),
        (_, "BEHIND") => "its base has moved on".to_owned(),
        _ if !inconclusive.is_empty() => format!("ended without a result: {inconclusive}"),
        (_, "UNSTABLE") => "a check has not passed".to_owned(),
        ("MERGEABLE", "CLEAN" | "HAS_HOOKS") => return None,
        // An approval is what blocks it, and that is asked for separately.
        ("MERGEABLE", "BLOCKED") if found.review_decision == "REVIEW_REQUIRED" => return None,
        (_, "BLOCKED") => "a rule of the repository blocks it".to_owned(),
        _ => "whether it can be merged is not known yet".to_owned(),
    };
    Some(text)
}

/// Whether a person with write access to the repository approved this very head, or one that it is a mere rebase of.
#[must_use]
pub fn is_approved(found: &PullRequest, record: &PullRequestRecord) -> bool {
    let same = |commit: &str| commit == found.head || record.rebased.iter().any(|earlier| earlier == commit);
    let opinions = found.opinions();
    let approves = opinions.iter().any(|(review, opinion)| {
        *opinion == Opinion::Approves && review.commit.as_ref().is_some_and(|commit| same(&commit.oid))
    });
    let objects = opinions.iter().any(|(_, opinion)| *opinion == Opinion::RequestsChanges);
    approves && !objects && matches!(found.review_decision.as_str(), "" | "APPROVED")
}

/// Whether it may be merged now; otherwise what is missing. `head` is the commit that this task proposed for `base`.
pub fn may_merge(
    found: &PullRequest,
    assessment: &Assessment,
    (head, base): (&str, &str),
    record: &PullRequestRecord,
    merging: Merging,
) -> Result<(), String> {
    if assessment.state != PullRequestState::Ready {
        return Err(assessment.detail.clone());
    }
    if found.head != head {
        return Err("its branch has commits that this task did not make".to_owned());
    }
    if !found.is_for(base) {
        return Err(format!("it is for {} and not for {base}", found.base));
    }
    match merging {
        Merging::Never => Err("it is merged by a person".to_owned()),
        Merging::Approved if !is_approved(found, record) => Err("it waits for an approval".to_owned()),
        Merging::Ready if found.review_decision == "REVIEW_REQUIRED" => Err("it waits for an approval".to_owned()),
        Merging::Approved | Merging::Ready => Ok(()),
    }
}

/// Whether the service asks for a rebase that was not tried with this head, on the base that it was proposed for.
#[must_use]
pub fn needs_rebase(found: &PullRequest, (head, base): (&str, &str), record: &PullRequestRecord) -> bool {
    let asked = found.mergeable == "CONFLICTING" || matches!(found.merge_state_status.as_str(), "BEHIND" | "DIRTY");
    let ours = found.state == "OPEN" && found.head == head && found.is_for(base);
    asked && ours && !record.rebased.iter().any(|earlier| earlier == head)
}
