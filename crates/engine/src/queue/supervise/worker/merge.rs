//! Merging: the base moves forward to exactly the commit that was verified. When the base has moved on since, the
//! task's own commits are rebased on it and verified again.

use super::{
    clean::CleanCheckout,
    ended::Ended,
    gather::{nothing, read},
    handed::{Handed, bring, in_thread},
    in_the_way,
    life::Life,
    place::{Place, author, git},
    start::Start,
};
use crate::{Context, queue::supervise::fault::fault};
use shuntyard_core::{
    experience::FailureMode,
    work::task::{Failure, Findings, Gate, Judgement, Lift, Receipt, TaskSpec, judge, not_in_base},
};
use shuntyard_host::git::{FastForward, GitError, Rebased};
use shuntyard_store::TaskRecord;
use std::path::PathBuf;

/// How often the base may move while the work is verified on it.
const TRIES: u32 = 5;

pub(super) async fn merge(
    context: &Context,
    record: &TaskRecord,
    place: &Place,
    ended: &Ended,
    head: &str,
    life: &Life,
) -> Result<Handed, GitError> {
    let base = record.task.spec.base.clone();
    // One merge at a time in each repository; the lock goes with the process that holds it.
    let waiting = in_thread(place, |place| place.git()?.hold_merges(&place.repository)).await?;
    for _ in 0..TRIES {
        let (name, work) = (base.clone(), head.to_owned());
        let Some(Tip { onto, there, is_brought }) = in_thread(place, move |place| tip(place, &name, &work)).await?
        else {
            let detail = format!("{base} is no branch of {} any more", place.repository.display());
            return Ok(Handed::returned(in_the_way("no base", detail)));
        };
        if let Some(commit) = there {
            let evidence = delivered_before(record, place, head, &commit).await;
            return Ok(Handed { evidence, ..Handed::merged(&base, commit) });
        }
        if let Some(failure) = missing_dependency(context, record, place, &onto).await? {
            return Ok(Handed::returned(failure));
        }
        let (commit, evidence) = if place.base.as_deref() == Some(onto.as_str()) {
            if !is_brought {
                let work = head.to_owned();
                in_thread(place, move |place| bring(place, &work)).await?;
            }
            (head.to_owned(), None)
        } else {
            match on_new_base(context, record, place, ended, (head, &onto), life).await? {
                Rebuilt::Same { evidence } => (onto.clone(), Some(*evidence)),
                Rebuilt::Good { commit, evidence } => (commit, Some(*evidence)),
                Rebuilt::Bad(failure) => return Ok(Handed::returned(failure)),
            }
        };
        fault(context, "rebased");
        if life.is_over() || life.stop().is_cancelled() {
            return Ok(Handed::returned(in_the_way("stopped", "it was stopped before the merge".to_owned())));
        }
        let (moving, to) = (base.clone(), commit.clone());
        match in_thread(place, move |place| place.git()?.fast_forward(&place.repository, &moving, &onto, &to)).await? {
            FastForward::Done | FastForward::AlreadyThere => {
                drop(waiting);
                return Ok(Handed { evidence, ..Handed::merged(&base, commit) });
            }
            // What is not a step forward from there was rebased on something older.
            FastForward::Moved { .. } | FastForward::NotForward => {}
            FastForward::CheckedOutDirty { path, files } => {
                let named: Vec<String> = files.iter().take(5).map(|path| path.display().to_string()).collect();
                let detail = format!(
                    "the merge into {base} waits: {} has changes of its own in files that it would touch: {}",
                    path.display(),
                    named.join(", ")
                );
                return Ok(Handed::returned(waits("dirty base", detail)));
            }
            FastForward::Busy { path, operation } => {
                let detail = format!("the merge into {base} waits: {} {operation}", path.display());
                return Ok(Handed::returned(waits("busy base", detail)));
            }
        }
    }
    let detail = format!("{base} moved {TRIES} times while it was verified");
    Ok(Handed::returned(in_the_way("moving base", detail)))
}

/// Why it cannot be merged before the work of another task is.
async fn missing_dependency(
    context: &Context,
    record: &TaskRecord,
    place: &Place,
    onto: &str,
) -> Result<Option<Failure>, GitError> {
    let start = match Start::of(context, &record.task).await {
        Ok(start) => start,
        Err(failure) => return Ok(Some(failure)),
    };
    let onto = onto.to_owned();
    let found =
        in_thread(place, move |place| start.presence(&git().not_above(&place.repository), &place.repository, &onto))
            .await?;
    Ok(not_in_base(&record.task.id, &record.task.spec.base, &found))
}

/// Where a merge begins, perhaps after a worker that died.
struct Tip {
    /// The commit that the base is at.
    onto: String,
    /// The commit of this work that the base has already.
    there: Option<String>,
    /// The user's repository has the work, on no branch.
    is_brought: bool,
}

fn tip(place: &Place, base: &str, head: &str) -> Result<Option<Tip>, GitError> {
    let repository = &place.repository;
    let git = git().not_above(repository);
    git.recover_checkouts(repository)?;
    let (onto, delivered) = git.branch_and_delivered(repository, base, &place.owner, head)?;
    let Some(onto) = onto else { return Ok(None) };
    let is_brought = delivered.as_deref() == Some(head);
    for commit in delivered.into_iter().chain([head.to_owned()]) {
        if git.has_commit(repository, &commit)? && git.is_ancestor(repository, &commit, &onto)? {
            return Ok(Some(Tip { onto, there: Some(commit), is_brought }));
        }
    }
    Ok(Some(Tip { onto, there: None, is_brought }))
}

/// The evidence of a worker that died after it had moved the branch to a rebased commit, and before it could record
/// that. The commit was verified, or it would not have been brought here.
pub(super) async fn delivered_before(
    record: &TaskRecord,
    place: &Place,
    head: &str,
    commit: &str,
) -> Option<(Vec<String>, Findings)> {
    let receipt: Receipt = serde_json::from_value(record.receipt.clone()?).ok()?;
    if commit == head {
        return None;
    }
    let (to, from) = (commit.to_owned(), format!("{commit}~{}", receipt.findings.commits));
    let found = in_thread(place, move |place| {
        let (git, repository) = (place.git()?, &place.repository);
        read(&git, repository, &git.commit_of(repository, &from)?, &to)
    });
    Some((receipt.reasons, found.await.ok()?.into_findings(receipt.findings)))
}

/// The work on a newer base.
pub(super) enum Rebuilt {
    /// The base has all of it, and was verified.
    Same {
        evidence: Box<(Vec<String>, Findings)>,
    },
    Good {
        commit: String,
        evidence: Box<(Vec<String>, Findings)>,
    },
    Bad(Failure),
}

/// Rebases the task's own commits in one clean checkout, and verifies the result in another.
pub(super) async fn on_new_base(
    context: &Context,
    record: &TaskRecord,
    place: &Place,
    ended: &Ended,
    (head, onto): (&str, &str),
    life: &Life,
) -> Result<Rebuilt, GitError> {
    let clean = CleanCheckout::make(context, &record.task, Some(place), head, "deliver").await?;
    let rebuilt = rebuild(context, record, place, ended, (head, onto), (&clean, life)).await;
    clean.remove().await;
    rebuilt
}

async fn rebuild(
    context: &Context,
    record: &TaskRecord,
    place: &Place,
    ended: &Ended,
    (head, onto): (&str, &str),
    (clean, life): (&CleanCheckout, &Life),
) -> Result<Rebuilt, GitError> {
    let task = &record.task;
    let (workspace, from, new) = (clean.workspace.clone(), place.base.clone().unwrap_or_default(), onto.to_owned());
    let rebased = in_thread(place, move |place| {
        place.git()?;
        workspace.bring_base(&place.repository, &new)?;
        let git = workspace.git()?;
        let rebased = git.rebase_from(&workspace.directory, &from, &new, &author(&git, &place.repository))?;
        let commit = git.commit_of(&workspace.directory, "HEAD")?;
        let found = read(&git, &workspace.directory, &new, &commit)?;
        let dangling = found.dangling(&place.repository);
        Ok((rebased, commit, found, dangling))
    });
    let (commit, found, dangling) = match rebased.await? {
        (Rebased::Conflict { paths }, ..) => return Ok(Rebuilt::Bad(conflict(&task.spec.base, &paths))),
        (Rebased::Dirty { paths }, ..) => {
            let named: Vec<String> = paths.iter().take(5).map(|path| path.display().to_string()).collect();
            let detail = format!("a clean checkout of it has changes: {}", named.join(", "));
            return Ok(Rebuilt::Bad(in_the_way("dirty checkout", detail)));
        }
        (Rebased::UpToDate | Rebased::Done { .. }, commit, found, dangling) => (commit, found, dangling),
    };
    let astray = found.astray(&place.directory);
    let mut findings = Findings { dangling, astray, ..found.into_findings(nothing(ended)) };
    // The files of the first checkout are those of the old base, as far as the rebase did not write them.
    let fresh = clean.rebased(context, task, &commit, onto).await?;
    let checks = fresh.verify(context, record, Some(life), &format!("{}.deliver", task.epoch)).await;
    fresh.remove().await;
    match checks {
        Ok(checks) => findings.checks = checks,
        Err(problem) => return Ok(Rebuilt::Bad(in_the_way("verify", problem))),
    }
    let is_same = commit == onto;
    // What is left to do is nothing, and that is no fault of the work.
    let gate = if is_same { Gate::Open } else { task.spec.gate };
    match judge(&TaskSpec { gate, ..task.spec.clone() }, &findings) {
        Judgement::Good { reasons } if is_same => Ok(Rebuilt::Same { evidence: Box::new((reasons, findings)) }),
        Judgement::Good { reasons } => {
            let (workspace, work, to) = (clean.workspace.clone(), head.to_owned(), commit.clone());
            in_thread(place, move |place| {
                place.git()?;
                workspace.deliver_objects(&place.repository, &work, &to)
            })
            .await?;
            Ok(Rebuilt::Good { commit, evidence: Box::new((reasons, findings)) })
        }
        Judgement::Bad(failure) => Ok(Rebuilt::Bad(rejected_on_new_base(&task.spec.base, failure))),
    }
}

/// The user is at work where the delivery would go. It waits for as long as that takes.
fn waits(signature: &str, detail: String) -> Failure {
    Failure { mode: FailureMode::Transient, ..in_the_way(signature, detail) }
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

/// What is good alone may be bad on top of what others have delivered.
fn rejected_on_new_base(base: &str, failure: Failure) -> Failure {
    let detail = format!("on top of the newest {base}: {}", failure.detail);
    Failure { signature: format!("new base {}", failure.signature), detail, ..failure }
}
