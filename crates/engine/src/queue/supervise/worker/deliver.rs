//! Delivery: exactly the commit that was verified comes into the user's repository, as a branch, as the newest commit
//! of the base, or as a pull request. Done twice, it finds itself done.

use super::{
    ended::Ended,
    gather::gather,
    handed::{Delivery, Handed, in_thread, publish_as},
    in_the_way,
    life::Life,
    merge::merge,
    place::{Place, with_source},
    pull_request::propose,
};
use crate::Context;
use shuntyard_core::{
    values::Deliver,
    work::task::{Delivered, Event, Judgement, Task, TaskSpec, judge},
};
use shuntyard_host::git::GitError;
use shuntyard_store::TaskRecord;

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

/// Puts work that was not verified on a branch of the task, so that a person can continue it.
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
