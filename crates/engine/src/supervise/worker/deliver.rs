//! Handing good work over: rebased on the base, verified again, and the base moved forward to it, one at a time in
//! each repository. Done twice, it finds itself done.

use super::{
    ended::Ended,
    gather::gather,
    in_the_way,
    life::Life,
    place::{Place, author, git},
    pull_request::propose,
};
use crate::{Context, supervise::fault::fault};
use std::path::PathBuf;
use switchyard_core::{
    pattern::FailureMode,
    task::{Deliver, Delivered, Event, Failure, Findings, Judgement, Lift, Task, judge},
};
use switchyard_host::git::{FastForward, GitError, Rebased};

/// How often the base may move while the work is verified on it.
const TRIES: u32 = 5;

/// What came of it, and new evidence when the work was judged again on a newer base.
pub(super) type Handed = (Event, Option<(Vec<String>, Findings)>);

pub(super) async fn deliver(
    context: &Context,
    task: &Task,
    place: &Place,
    ended: &Ended,
    head: &str,
    life: &Life,
) -> Handed {
    let event = match task.spec.deliver {
        Deliver::Branch => {
            let branch = place.branch.clone().unwrap_or_default();
            Event::Deliver { delivered: Delivered::Branch { branch, head: head.to_owned() } }
        }
        Deliver::Merge => match merge(context, task, place, ended, head, life).await {
            Ok(handed) => return handed,
            Err(error) => {
                let failure = in_the_way("merge", format!("it could not be merged: failed to {error}"));
                Event::Return { failure }
            }
        },
        Deliver::Pr => propose(context, task, place, head).await,
    };
    (event, None)
}

async fn merge(
    context: &Context,
    task: &Task,
    place: &Place,
    ended: &Ended,
    head: &str,
    life: &Life,
) -> Result<Handed, GitError> {
    let mut evidence = None;
    let returned = |failure| Ok((Event::Return { failure }, None));
    let base = task.spec.base.clone();
    // One merge at a time in each repository; the lock goes with the process that holds it.
    let waiting = in_thread(place, |place| git().hold_merges(&place.repository)).await?;
    let mut verified = head.to_owned();
    for _ in 0..TRIES {
        let (onto, rebased) = {
            let (base, branch_head) = (base.clone(), head.to_owned());
            in_thread(place, move |place| {
                let git = git();
                let onto = git.commit_of(&place.repository, &base)?;
                // The base may have it from a worker that died right after.
                if git.is_ancestor(&place.repository, &branch_head, &onto)? {
                    return Ok((onto, None));
                }
                let rebased = git.rebase(&place.directory, &onto, &author(&git, &place.directory))?;
                Ok((onto, Some(rebased)))
            })
            .await?
        };
        let tip = match rebased {
            None => {
                return Ok((Event::Deliver { delivered: Delivered::Merged { base, head: head.to_owned() } }, None));
            }
            Some(Rebased::Conflict { paths }) => return returned(conflict(&base, &paths)),
            Some(Rebased::Dirty { .. }) => {
                let detail = "its worktree has changes that are not committed".to_owned();
                return returned(in_the_way("dirty worktree", detail));
            }
            Some(Rebased::UpToDate) => head_of(place).await?,
            Some(Rebased::Done { head }) => head,
        };
        // A merge that was made and not written down shows in the base, also when the commits were rewritten.
        if tip == onto {
            return Ok((Event::Deliver { delivered: Delivered::Merged { base, head: tip } }, evidence));
        }
        if tip != verified {
            let now = Place { base: Some(onto.clone()), ..place.clone() };
            let findings = match gather(context, task, &now, ended, life).await {
                Ok(findings) => findings,
                Err(problem) => return returned(in_the_way("verify", problem)),
            };
            match judge(&task.spec, &findings) {
                Judgement::Good { reasons } => {
                    verified.clone_from(&tip);
                    evidence = Some((reasons, findings));
                }
                Judgement::Bad(failure) => return returned(on_the_new_base(&base, failure)),
            }
        }
        fault(context, "rebased");
        if life.is_over() || life.stop().is_cancelled() {
            return returned(in_the_way("stopped", "it was stopped before the merge".to_owned()));
        }
        let (moving, to) = (base.clone(), tip.clone());
        let from = onto.clone();
        match in_thread(place, move |place| git().fast_forward(&place.repository, &moving, &from, &to)).await? {
            FastForward::Done | FastForward::AlreadyThere => {
                drop(waiting);
                return Ok((Event::Deliver { delivered: Delivered::Merged { base, head: tip } }, evidence));
            }
            // What is not a step forward from there was rebased on something older.
            FastForward::Moved { .. } | FastForward::NotForward => {}
            FastForward::CheckedOutDirty { files, .. } => {
                let named: Vec<String> = files.iter().take(5).map(|path| path.display().to_string()).collect();
                let detail =
                    format!("{base} is checked out with changes that the merge would touch: {}", named.join(", "));
                return returned(in_the_way("dirty base", detail));
            }
        }
    }
    returned(in_the_way("moving base", format!("{base} moved {TRIES} times while it was verified")))
}

async fn head_of(place: &Place) -> Result<String, GitError> {
    in_thread(place, |place| git().commit_of(&place.directory, "HEAD")).await
}

async fn in_thread<T: Send + 'static>(
    place: &Place,
    work: impl FnOnce(&Place) -> Result<T, GitError> + Send + 'static,
) -> Result<T, GitError> {
    let place = place.clone();
    let joined = tokio::task::spawn_blocking(move || work(&place)).await;
    joined.unwrap_or_else(|error| {
        Err(GitError::Run { command: "git".to_owned(), source: std::io::Error::other(error.to_string()) })
    })
}

fn conflict(base: &str, paths: &[PathBuf]) -> Failure {
    let named: Vec<String> = paths.iter().take(5).map(|path| path.display().to_string()).collect();
    let named = named.join(", ");
    Failure {
        mode: FailureMode::Logic,
        class: None,
        signature: format!("conflict {named}"),
        detail: format!("{base} has moved on, and the work conflicts with it in {named}; it is begun again from there"),
        until: None,
        lift: Lift::Useless,
    }
}

/// What is good alone may be bad on top of what others have handed over.
fn on_the_new_base(base: &str, failure: Failure) -> Failure {
    let detail = format!("on top of the newest {base}: {}", failure.detail);
    Failure { signature: format!("new base {}", failure.signature), detail, ..failure }
}
