//! Bringing a proposed commit onto the newest base of the remote, verified there.
//!
//! Invariant: the branch on the remote is replaced only while it is what this task pushed.

use super::{
    handed::{Delivery, Handed, in_thread, passing},
    in_the_way,
    merge::{Rebuilt, delivered_before, on_new_base},
    place::usual_remote,
};
use crate::queue::supervise::{fault::fault, reviews::next_look};
use shuntyard_core::work::{
    pull_request::{Assessed, PullRequest},
    task::{Event, Findings},
};
use shuntyard_host::git::{Fetched, GitError, Pushed};

pub(super) async fn rebase(delivery: Delivery<'_>, found: &PullRequest, head: &str) -> Result<Handed, GitError> {
    let Delivery { context, record, place, ended, life } = delivery;
    let proposed = |head: &str| {
        let until = next_look(context);
        Event::Propose { url: found.url.clone(), head: head.to_owned(), until, assessed: Assessed::No }
    };
    if found.head != head {
        let pushed = in_thread(place, |place| {
            let Some(work) = place.workspace()?.collected()? else { return Ok(None) };
            place.git()?.delivered_objects(&place.repository, &place.owner, &work)
        });
        // A worker died after it had pushed what it rebased and verified. Any other head is another author's.
        if pushed.await?.as_deref() != Some(found.head.as_str()) {
            return Ok(Handed::new(proposed(head)));
        }
        let evidence = delivered_before(record, place, head, &found.head).await;
        return Ok(Handed { evidence, branch: Some(found.branch.clone()), ..Handed::new(proposed(&found.head)) });
    }
    // A person has chosen another base for it, and decides what it is to be rebased on.
    if !found.is_for(&record.task.spec.base) {
        return Ok(Handed::new(proposed(head)));
    }
    let (base, head) = (record.task.spec.base.clone(), found.head.clone());
    let newest = in_thread(place, move |place| {
        let (git, repository) = (place.git()?, &place.repository);
        let Some(remote) = usual_remote(&git, repository)? else {
            return Ok(Err("the repository has no remote".to_owned()));
        };
        Ok(match git.fetch(repository, &remote, &base)? {
            Fetched::Done { commit } if git.is_ancestor(repository, &commit, &head)? => Ok(None),
            // The commits of the workspace: what was rebased before is a copy of them.
            Fetched::Done { commit } => Ok(place.workspace()?.collected()?.map(|work| (remote, commit, work))),
            Fetched::Absent => Err(format!("{remote} has no branch {base}")),
            Fetched::Offline(why) | Fetched::Failed(why) => Err(format!("{base} could not be fetched: {why}")),
        })
    });
    let (remote, onto, work) = match newest.await? {
        Ok(Some(newest)) => newest,
        Ok(None) => return Ok(Handed::new(proposed(&found.head))),
        Err(problem) => return Ok(passing(problem)),
    };
    let (commit, evidence): (String, (Vec<String>, Findings)) =
        match on_new_base(context, record, place, ended, (&work, &onto), life).await? {
            Rebuilt::Same { .. } => return Ok(Handed::new(proposed(&found.head))),
            Rebuilt::Bad(failure) => return Ok(Handed::returned(failure)),
            Rebuilt::Good { commit, evidence } => (commit, *evidence),
        };
    fault(context, "repush");
    if life.is_over() || life.stop().is_cancelled() {
        return Ok(Handed::returned(in_the_way("stopped", "it was stopped before the push".to_owned())));
    }
    let (branch, to) = (found.branch.clone(), commit.clone());
    let pushed = in_thread(place, move |place| {
        let (git, repository) = (place.git()?, &place.repository);
        let published = git.publish_branch(repository, &place.owner, &branch, &to)?;
        // A branch of another name would need another pull request.
        if published.branch != branch {
            return Ok(Pushed::Rejected(format!("the local branch {branch} is not this task's")));
        }
        git.push_owned(repository, &remote, &place.owner, &branch)
    });
    match pushed.await? {
        Pushed::Done => {
            fault(context, "repushed");
            let event = proposed(&commit);
            Ok(Handed { evidence: Some(evidence), branch: Some(found.branch.clone()), ..Handed::new(event) })
        }
        // Another has pushed to it: it stays as it is.
        Pushed::Rejected(why) => {
            tracing::warn!(task = %record.task.id, why, "a pull request was not rebased");
            Ok(Handed::new(proposed(&found.head)))
        }
        Pushed::Offline(why) | Pushed::Failed(why) => Ok(passing(format!("{} was not pushed: {why}", found.branch))),
    }
}
