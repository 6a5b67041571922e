//! Handing good work over: rebased on the base, verified again, and the base moved forward to it, one at a time in
//! each repository. Done twice, it finds itself done.

use super::{
    gather::check,
    in_the_way,
    life::Life,
    place::{Place, author, git},
    pull_request::propose,
};
use crate::{Context, supervise::fault::fault};
use std::path::PathBuf;
use switchyard_core::{
    pattern::FailureMode,
    task::{Deliver, Delivered, Event, Failure, Lift, Task},
};
use switchyard_host::git::{FastForward, GitError, Rebased};

/// How often the base may move while the work is verified on it.
const TRIES: u32 = 5;

pub(super) async fn deliver(context: &Context, task: &Task, place: &Place, head: &str, life: &Life) -> Event {
    match task.spec.deliver {
        Deliver::Branch => {
            let branch = place.branch.clone().unwrap_or_default();
            Event::Deliver { delivered: Delivered::Branch { branch, head: head.to_owned() } }
        }
        Deliver::Merge => match merge(context, task, place, head, life).await {
            Ok(event) => event,
            Err(error) => {
                let failure = in_the_way("merge", format!("it could not be merged: failed to {error}"));
                Event::Return { failure }
            }
        },
        Deliver::Pr => propose(context, task, place, head).await,
    }
}

async fn merge(context: &Context, task: &Task, place: &Place, head: &str, life: &Life) -> Result<Event, GitError> {
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
                return Ok(Event::Deliver { delivered: Delivered::Merged { base, head: head.to_owned() } });
            }
            Some(Rebased::Conflict { paths }) => return Ok(Event::Return { failure: conflict(&base, &paths) }),
            Some(Rebased::Dirty { .. }) => {
                let detail = "its worktree has changes that are not committed".to_owned();
                return Ok(Event::Return { failure: in_the_way("dirty worktree", detail) });
            }
            Some(Rebased::UpToDate) => head_of(place).await?,
            Some(Rebased::Done { head }) => head,
        };
        // A merge that was made and not written down shows in the base, also when the commits were rewritten.
        if tip == onto {
            return Ok(Event::Deliver { delivered: Delivered::Merged { base, head: tip } });
        }
        if tip != verified {
            match check(context, task, &place.directory, life).await {
                Ok(checks) if checks.iter().all(|check| check.exit.is_green()) => verified.clone_from(&tip),
                Ok(checks) => return Ok(Event::Return { failure: red(&base, &checks) }),
                Err(problem) => return Ok(Event::Return { failure: in_the_way("verify", problem) }),
            }
        }
        fault(context, "rebased");
        if life.is_over() || life.stop().is_cancelled() {
            return Ok(Event::Return { failure: in_the_way("stopped", "it was stopped before the merge".to_owned()) });
        }
        let (moving, to) = (base.clone(), tip.clone());
        let from = onto.clone();
        match in_thread(place, move |place| git().fast_forward(&place.repository, &moving, &from, &to)).await? {
            FastForward::Done | FastForward::AlreadyThere => {
                drop(waiting);
                return Ok(Event::Deliver { delivered: Delivered::Merged { base, head: tip } });
            }
            // What is not a step forward from there was rebased on something older.
            FastForward::Moved { .. } | FastForward::NotForward => {}
            FastForward::CheckedOutDirty { files, .. } => {
                let named: Vec<String> = files.iter().take(5).map(|path| path.display().to_string()).collect();
                let detail =
                    format!("{base} is checked out with changes that the merge would touch: {}", named.join(", "));
                return Ok(Event::Return { failure: in_the_way("dirty base", detail) });
            }
        }
    }
    Ok(Event::Return {
        failure: in_the_way("moving base", format!("{base} moved {TRIES} times while it was verified")),
    })
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

fn red(base: &str, checks: &[switchyard_core::task::Check]) -> Failure {
    let red = checks.iter().find(|check| !check.exit.is_green());
    let (command, tail) = red.map_or(("", ""), |check| (check.command.as_str(), check.tail.as_str()));
    Failure {
        mode: FailureMode::Logic,
        class: None,
        signature: format!("red on the new base {command}"),
        detail: format!("`{command}` fails on top of the newest {base}:\n{}", tail.trim()),
        until: None,
        lift: Lift::Allowed,
    }
}
