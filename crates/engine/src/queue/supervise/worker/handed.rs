//! What the ways of delivery share: what they are given, what they return, and how a commit comes into the user's
//! repository.

use super::{ended::Ended, in_the_way, life::Life, place::Place};
use crate::Context;
use shuntyard_core::{
    experience::FailureMode,
    work::task::{Delivered, Event, Failure, Findings},
};
use shuntyard_host::git::{GitError, Published};
use shuntyard_store::TaskRecord;

/// A delivery that is under way.
#[derive(Clone, Copy)]
pub(super) struct Delivery<'a> {
    pub(super) context: &'a Context,
    pub(super) record: &'a TaskRecord,
    pub(super) place: &'a Place,
    pub(super) ended: &'a Ended,
    pub(super) life: &'a Life,
}

/// What came of a delivery.
#[derive(Debug)]
pub(super) struct Handed {
    pub(super) event: Event,
    /// New evidence, when the work was judged again on a newer base.
    pub(super) evidence: Option<(Vec<String>, Findings)>,
    /// The branch that has the work in the user's repository.
    pub(super) branch: Option<String>,
}

impl Handed {
    pub(super) fn new(event: Event) -> Self {
        Self { event, evidence: None, branch: None }
    }

    pub(super) fn returned(failure: Failure) -> Self {
        Self::new(Event::Return { failure })
    }

    pub(super) fn merged(base: &str, head: String) -> Self {
        Self::new(Event::Deliver { delivered: Delivered::Merged { base: base.to_owned(), head } })
    }
}

/// Brings the commit into the user's repository, on a branch that belongs to the task, of this name if that is free.
pub(super) fn publish_as(place: &Place, commit: &str, wanted: &str) -> Result<Published, GitError> {
    bring(place, commit)?;
    let published = place.git()?.publish_branch(&place.repository, &place.owner, wanted, commit)?;
    if let Some(why) = &published.instead_of {
        tracing::warn!(branch = published.branch, why, "the work is on a branch of another name");
    }
    Ok(published)
}

/// Brings the commit into the user's repository, on no branch.
pub(super) fn bring(place: &Place, commit: &str) -> Result<(), GitError> {
    if place.git()?.delivered_objects(&place.repository, &place.owner, commit)?.as_deref() == Some(commit) {
        return Ok(());
    }
    place.workspace()?.deliver_objects(&place.repository, commit, commit)
}

/// A remote or a service that cannot be asked now. It is asked again for as long as that takes.
pub(super) fn passing(detail: String) -> Handed {
    let failure: Failure = in_the_way("pull request", detail);
    Handed::returned(Failure { mode: FailureMode::Transient, ..failure })
}

pub(super) async fn in_thread<T: Send + 'static>(
    place: &Place,
    work: impl FnOnce(&Place) -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    let place = place.clone();
    let done = crate::in_thread(move || work(&place)).await;
    done.unwrap_or_else(|source| Err(GitError::Run { command: "git".to_owned(), source }))
}
