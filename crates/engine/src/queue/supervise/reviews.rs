//! Open pull requests: each is checked from time to time, and what it needs is started or done.
//!
//! Invariant: no start of a task waits for `gh` here. A check is taken by one process, which writes down the moment of
//! the next one before it asks; every decision is one change of the task as it was read then. A check that is repeated
//! or cut off therefore starts no second attempt, and a merge is bound to the commit that the task proposed.

use super::{
    change::{Became, ChangeError, With, attempt, change},
    fault::fault,
    worker::Gh,
};
use crate::{Context, in_thread, settings_of};
use futures_util::future::join_all;
use shuntyard_core::{
    experience::FailureMode,
    settings::{Merging, Repository, micros},
    values::redact::redact,
    work::{
        pull_request::{
            Assessed, Assessment, PullRequest, PullRequestRecord, PullRequestState, Reporting, assess, may_merge,
            needs_rebase, objections,
        },
        task::{Asked, Delivered, Event, Failure, Lift, Phase, Redelivery, State, TaskId},
    },
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{RunNote, TaskFilter, TaskRecord};
use std::{path::Path, time::Duration};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

/// An open pull request is checked with every one of so many regular checks of a supervisor.
const LOOKS: i64 = 8;
/// Tasks that are read to find those that are due.
const DUE: u32 = 500;
/// Pull requests that are looked at side by side.
const AT_ONCE: usize = 8;
/// Merges in one pass.
const MERGES: usize = 5;
/// Pull requests of one base that are rebased after a merge.
const SIBLINGS: u32 = 500;
/// The shortest pause between two passes.
const PAUSE: Duration = Duration::from_millis(200);

/// When a pull request that is open now is looked at again.
pub(super) fn next_look(context: &Context) -> i64 {
    now_micros().saturating_add(micros(context.config.supervise.look_every).saturating_mul(LOOKS))
}

/// Checks again and again until it is cancelled.
pub(super) async fn keep(context: &Context, cancel: &CancellationToken) {
    let regular = context.config.supervise.look_every.0.unwrap_or(Duration::from_secs(15));
    let looking = async {
        loop {
            if let Err(error) = look_where_due(context).await {
                tracing::warn!(%error, "pull requests could not be looked at");
            }
            let due = context.store.next_due().await.ok().flatten();
            let ahead = due.and_then(|due| u64::try_from(due.saturating_sub(now_micros())).ok());
            sleep(ahead.map_or(regular, Duration::from_micros).clamp(PAUSE, regular.max(PAUSE))).await;
        }
    };
    tokio::select! {
        () = looking => {}
        () = cancel.cancelled() => {}
    }
}

/// Checks those whose time has come, and merges those that are ready. Returns whether any task moved.
pub(super) async fn look_where_due(context: &Context) -> Result<bool, ChangeError> {
    let due = context.store.due_tasks(now_micros(), DUE).await?;
    let reviews: Vec<&TaskRecord> =
        due.iter().filter(|record| matches!(record.task.state, State::Review { .. })).collect();
    let (mut moved, mut merges) = (false, 0);
    for part in reviews.chunks(AT_ONCE) {
        for looked in join_all(part.iter().map(|record| look(context, record))).await {
            match looked? {
                Looked::Moved => moved = true,
                Looked::Ready(ready) if merges < MERGES => {
                    merges += 1;
                    moved |= merge(context, *ready).await?;
                }
                Looked::Same | Looked::Ready(_) => {}
            }
        }
    }
    Ok(moved)
}

enum Looked {
    Same,
    Moved,
    /// It may be merged.
    Ready(Box<Look>),
}

/// A check of one pull request, by the process that has taken it.
struct Look {
    gh: Gh,
    record: Box<TaskRecord>,
    url: String,
    head: String,
    known: PullRequestRecord,
    settings: Repository,
}

impl Look {
    /// The commit that was proposed, and the branch that it was proposed for.
    fn proposed(&self) -> (&str, &str) {
        (&self.head, &self.record.task.spec.base)
    }

    /// Takes the check, unless another process has.
    async fn take(context: &Context, record: &TaskRecord) -> Result<Option<Self>, ChangeError> {
        let State::Review { url, head, .. } = &record.task.state else { return Ok(None) };
        let (url, head) = (url.clone(), head.clone());
        let until = next_look(context);
        let event = Event::Propose { url: url.clone(), head: head.clone(), until, assessed: Assessed::No };
        let Some(record) = changed(context, record, &event).await? else { return Ok(None) };
        let Some(known) = record.task.tally.pull_request.clone() else { return Ok(None) };
        let repository = Path::new(&record.task.spec.repository);
        let (gh, settings) = (Gh::of(context, repository), settings_of(&context.config, repository));
        Ok(Some(Self { gh, record, url, head, known, settings }))
    }

    async fn observe(&self) -> Result<Option<PullRequest>, String> {
        let (gh, url) = (self.gh.clone(), self.url.clone());
        in_thread(move || gh.observe(&url)).await.unwrap_or_else(|error| Err(error.to_string()))
    }
}

/// Writes a change of the task as it was read. None when it has changed since.
async fn changed(
    context: &Context,
    record: &TaskRecord,
    event: &Event,
) -> Result<Option<Box<TaskRecord>>, ChangeError> {
    match attempt(context, record, event, &With { note: note(event), ..With::default() }).await {
        Ok(Some(Became::Done(record))) => Ok(Some(record)),
        Ok(_) | Err(ChangeError::Illegal(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Why the attempt that proposed the head was not enough is in its own row.
fn note(event: &Event) -> RunNote {
    let Event::Revise { failure, .. } = event else { return RunNote::default() };
    RunNote {
        outcome: Some("refused".to_owned()),
        failure_mode: Some(failure.mode),
        detail: Some(failure.detail.clone()),
        ..RunNote::default()
    }
}

async fn look(context: &Context, record: &TaskRecord) -> Result<Looked, ChangeError> {
    let Some(look) = Look::take(context, record).await? else { return Ok(Looked::Same) };
    fault(context, "looked");
    let found = match look.observe().await {
        Ok(found) => found,
        // What cannot be known leaves it as it is.
        Err(problem) => {
            tracing::debug!(task = %look.record.task.id, problem, "a pull request could not be looked at");
            return Ok(Looked::Same);
        }
    };
    let age = now_micros().saturating_sub(look.known.proposed_at);
    let young = age < micros(context.config.supervise.ci_wait);
    let mut assessment = assess(found.as_ref(), if young { Reporting::MayStart } else { Reporting::Complete });
    let event = match (assessment.state, &found) {
        (PullRequestState::Merged, _) => Some(merged(&look)),
        (PullRequestState::Closed, _) => {
            Some(Event::Reject { detail: format!("{} was closed without being merged", look.url) })
        }
        (_, Some(found)) => match revision(context, &look, found, &assessment).await? {
            None if look.settings.merge != Merging::Never && needs_rebase(found, look.proposed(), &look.known) => {
                Some(Event::Redeliver { why: Redelivery::Rebase })
            }
            revision => revision,
        },
        (_, None) => None,
    };
    if let Some(event) = event {
        fault(context, "answer");
        let moved = changed(context, &look.record, &event).await?.is_some();
        fault(context, "answered");
        return Ok(if moved { Looked::Moved } else { Looked::Same });
    }
    let may = found.as_ref().map(|found| {
        may_merge(found, &assessment, look.proposed(), &look.known, look.settings.merge)
            .map_err(|missing| (missing, found.head == look.head))
    });
    match &may {
        Some(Err((missing, _))) if assessment.state == PullRequestState::Ready => assessment.detail.clone_from(missing),
        Some(Err((_, false))) => assessment.detail.push_str("; its branch has commits that this task did not make"),
        _ => {}
    }
    let Some(look) = noted(context, look, assessment).await? else { return Ok(Looked::Same) };
    Ok(if may.is_some_and(|may| may.is_ok()) { Looked::Ready(Box::new(look)) } else { Looked::Same })
}

/// Writes down what was seen, when that is new.
async fn noted(context: &Context, look: Look, assessment: Assessment) -> Result<Option<Look>, ChangeError> {
    if look.known.assessment == assessment {
        return Ok(Some(look));
    }
    let (url, head, until) = (look.url.clone(), look.head.clone(), next_look(context));
    let event = Event::Propose { url, head, until, assessed: Assessed::Now(assessment) };
    Ok(changed(context, &look.record, &event).await?.map(|record| Look { record, ..look }))
}

/// Done, or first to be checked on the merge commit by a worker.
fn merged(look: &Look) -> Event {
    if look.settings.after_merge.is_empty() {
        let (url, head) = (look.url.clone(), look.head.clone());
        return Event::Deliver { delivered: Delivered::PullRequest { url, head } };
    }
    Event::Redeliver { why: Redelivery::Merged }
}

/// Another attempt for failed checks and reviews that none was started for, with their text.
async fn revision(
    context: &Context,
    look: &Look,
    found: &PullRequest,
    assessment: &Assessment,
) -> Result<Option<Event>, ChangeError> {
    let Some(objections) = objections(found, &look.known) else { return Ok(None) };
    let asked = if objections.reviews.is_empty() { Asked::ByChecks } else { Asked::ByReviewer };
    let signature = objections.signature();
    let (gh, url, known, seen) = (look.gh.clone(), look.url.clone(), look.known.clone(), found.clone());
    let written = in_thread(move || {
        let mut objections = shuntyard_core::work::pull_request::objections(&seen, &known)?;
        let log = |check: &&shuntyard_core::work::pull_request::StatusCheck| {
            Some((check.name().to_owned(), gh.failed_log(&url, check)?))
        };
        let logs: Vec<(String, String)> = objections.checks.iter().filter_map(log).collect();
        // An attempt without the comments would be for nothing, and the review would count as answered.
        let comments = match asked {
            Asked::ByReviewer => gh.line_comments(&url).ok()?,
            Asked::ByChecks => Vec::new(),
        };
        let text = objections.text(&url, &logs, &comments, &known);
        Some((objections.answers, redact(&text)))
    });
    let Some((answers, detail)) = written.await.ok().flatten() else { return Ok(None) };
    let runs = context.store.runs(&look.record.task.id).await?;
    let tier = runs.iter().rev().find_map(|run| run.tier.clone());
    let model = runs.iter().rev().find_map(|run| run.answered.clone().or_else(|| run.model.clone()));
    let failure =
        Failure { mode: FailureMode::Logic, class: None, signature, detail, until: None, lift: Lift::Allowed };
    Ok(Some(Event::Revise { failure, asked, assessment: assessment.clone(), answers, tier, model }))
}

/// Merges it, and reads what became of that. A process that dies in between leaves it to the next check.
async fn merge(context: &Context, look: Look) -> Result<bool, ChangeError> {
    let (gh, url, head, method) = (look.gh.clone(), look.url.clone(), look.head.clone(), look.settings.merge_method);
    fault(context, "merge");
    let done = in_thread(move || gh.merge(&url, &head, method)).await.unwrap_or_else(|error| Err(error.to_string()));
    fault(context, "merged");
    if let Err(problem) = done {
        tracing::warn!(task = %look.record.task.id, problem, "a pull request could not be merged");
        let assessment = Assessment { state: PullRequestState::Ready, detail: format!("not merged: {problem}") };
        noted(context, look, assessment).await?;
        return Ok(false);
    }
    match look.observe().await {
        Ok(Some(found)) if found.state == "MERGED" => {
            Ok(changed(context, &look.record, &merged(&look)).await?.is_some())
        }
        // A queue of the service merges it later.
        _ => Ok(false),
    }
}

/// After a merge, has the other pull requests of the same base brought onto it. Done twice, the second time finds
/// nothing to rebase.
pub(super) async fn rebase_siblings(context: &Context, id: &TaskId) -> Result<String, String> {
    let words = |error: shuntyard_store::StoreError| error.to_string();
    let own = context.store.task(id).await.map_err(words)?.task;
    let repository = Some(own.spec.repository.clone());
    let filter = TaskFilter { phase: Some(Phase::Waiting), repository, limit: SIBLINGS, ..TaskFilter::default() };
    let mut asked = 0;
    for record in context.store.tasks(&filter).await.map_err(words)? {
        let sibling = &record.task;
        if !matches!(sibling.state, State::Review { .. }) || sibling.spec.base != own.spec.base {
            continue;
        }
        let event = Event::Redeliver { why: Redelivery::Rebase };
        match change(context, &sibling.id, &event, &With::default()).await {
            Ok(_) => asked += 1,
            Err(ChangeError::Illegal(_)) => {}
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(format!("{asked} pull requests are rebased"))
}
