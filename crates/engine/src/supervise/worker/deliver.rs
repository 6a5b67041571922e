//! Delivery: exactly the commit that was verified comes into the user's repository, as a branch, as the newest commit
//! of the base, or as a pull request. Done twice, it finds itself done.

use super::{
    ended::Ended,
    gather::gather,
    in_the_way,
    life::Life,
    merge::merge,
    place::{Place, with_source},
    pull_request::{Delivery, propose},
};
use crate::Context;
use shuntyard_core::task::{Deliver, Delivered, Event, Failure, Findings, Judgement, Task, TaskSpec, judge};
use shuntyard_host::git::{GitError, Published};
use shuntyard_store::TaskRecord;

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

pub(super) async fn deliver(
    context: &Context,
    record: &TaskRecord,
    place: &Place,
    ended: &Ended,
    head: &str,
    life: &Life,
) -> Handed {
    let task = &record.task;
    let handed = match task.spec.deliver {
        Deliver::Branch => leave_branch(task, place, head).await,
        Deliver::Merge => merge(context, record, place, ended, head, life).await,
        Deliver::Pr => propose(Delivery { context, record, place, ended, life }, head).await,
    };
    handed.unwrap_or_else(|error| {
        let detail = format!("it could not be delivered: failed to {}", with_source(&error));
        Handed::returned(in_the_way("delivery", detail))
    })
}

/// Delivers what an earlier release judged in a worktree: it is verified first in a clean checkout.
pub(super) async fn deliver_moved(
    context: &Context,
    record: &TaskRecord,
    place: &Place,
    ended: &Ended,
    life: &Life,
) -> Handed {
    let findings = match gather(context, &record.task, place, ended, life).await {
        Ok(findings) => findings,
        Err(problem) => return Handed::returned(in_the_way("verify", problem)),
    };
    match judge(&record.task.spec, &findings) {
        Judgement::Bad(failure) => Handed::returned(failure),
        Judgement::Good { reasons } => {
            let head = findings.head.as_ref().map(|head| head.commit.clone()).unwrap_or_default();
            let handed = deliver(context, record, place, ended, &head, life).await;
            let evidence = handed.evidence.or(Some((reasons, findings)));
            Handed { evidence, ..handed }
        }
    }
}

async fn leave_branch(task: &Task, place: &Place, head: &str) -> Result<Handed, GitError> {
    let (task, commit) = (task.clone(), head.to_owned());
    let published = in_thread(place, move |place| publish_as(place, &commit, &TaskSpec::branch(&task.id))).await?;
    let branch = published.branch;
    let delivered = Delivered::Branch { branch: branch.clone(), head: head.to_owned() };
    Ok(Handed { branch: Some(branch), ..Handed::new(Event::Deliver { delivered }) })
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

/// Puts work that was not verified on a branch of the task, for somebody who goes on from it.
pub(crate) async fn publish_unfinished(context: &Context, task: &Task) -> Option<String> {
    let runs = context.store.runs(&task.id).await.ok()?;
    let place = Place::of_run(task, &runs)?;
    let task = task.clone();
    let published = in_thread(&place, move |place| {
        let workspace = place.workspace()?;
        let Some(work) = workspace.collected()?.filter(|work| *work != workspace.record.base) else { return Ok(None) };
        publish_as(place, &work, &TaskSpec::branch(&task.id)).map(|published| Some(published.branch))
    });
    published.await.ok().flatten()
}

pub(super) async fn in_thread<T: Send + 'static>(
    place: &Place,
    work: impl FnOnce(&Place) -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    let place = place.clone();
    let done = crate::in_thread(move || work(&place)).await;
    done.unwrap_or_else(|source| Err(GitError::Run { command: "git".to_owned(), source }))
}
