//! TODO.md and the store, brought together in both directions. Nothing is deleted on either side: a difference that
//! only a person can settle is reported.

mod import;
mod report;

pub(super) use import::chosen;
pub use report::{Added, SyncNote, SyncReport};

use super::{
    ClaimFault, Line,
    identity::identity,
    issues::{assign, create},
    line::{Issues, linked, top_of},
    record::Record,
    settle::{Whose, tick, unclaim},
    shared::{Shared, usual_base},
    stale::free,
    tip::Look,
    write::{Marked, Run, blocking, find},
};
use crate::{Context, queue::supervise::cancel};
use report::told;
use shuntyard_core::{
    todo::{Document, Evidence, Field, StoredPhase, StoredTask, cycles, reconcile},
    work::task::{Delivered, Phase, Receipt, State, TaskId},
};
use shuntyard_store::TaskRecord;
use std::path::Path;

/// What becomes of a task that the file calls over while the store has it open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    Tell,
    /// It is cancelled unless a worker or a review has it.
    CancelIdle,
    Cancel,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SyncOptions<'a> {
    pub run: Run,
    pub ended: Ended,
    pub issues: Issues,
    /// The branch that the file is on, when it is not the usual one.
    pub base: Option<&'a str>,
}

pub async fn sync(context: &Context, directory: &Path, options: SyncOptions<'_>) -> Result<SyncReport, ClaimFault> {
    let repository = top_of(directory)?;
    let base = match options.base {
        Some(base) => base.to_owned(),
        None => usual_base(&repository).await?,
    };
    let shared = find(context, &repository, &base).await?;
    let mut report = SyncReport::new(&repository, &shared.place(), options.run);
    let tip = match blocking(&shared, Shared::look).await? {
        Look::At(tip) => tip,
        Look::Unreachable(found) => {
            report.offline = Some(found.why);
            return Ok(report);
        }
    };
    let document = &tip.document;
    let stored = linked(context, &repository).await?;
    compare(context, document, &stored, &repository, &mut report).await?;
    let issues = options.issues.are_wanted(context);
    import::import(context, document, &shared, options.run, issues, &mut report).await?;
    if options.run == Run::Real {
        if issues {
            make_issues(context, document, &repository, &base, &mut report).await;
        }
        catch_up_issues(context, document, &shared, &stored, &mut report).await;
    }
    for record in &stored {
        write_back(context, document, record, options, &mut report).await?;
    }
    for freed in free(context, &repository, &base, document, options.run).await? {
        if !report.released.contains(&freed.todo) {
            note(&mut report, &freed.todo, &freed.marked);
            report.freed.push(freed.todo);
        }
    }
    Ok(report)
}

async fn compare(
    context: &Context,
    document: &Document,
    stored: &[TaskRecord],
    repository: &Path,
    report: &mut SyncReport,
) -> Result<(), ClaimFault> {
    let who = identity(context)?;
    let mut known = Vec::new();
    for record in stored {
        let Some(line) = Line::of(&record.task) else { continue };
        let claim = Record::read(context, &Line { repository: repository.to_owned(), ..line.clone() }).await?;
        let ours = document.task(&line.todo).ok().flatten().is_some_and(|found| claim.is_ours(found));
        let phase = match record.task.state.phase() {
            Phase::Done => StoredPhase::Done,
            Phase::Cancelled => StoredPhase::Cancelled,
            Phase::Queued | Phase::Waiting | Phase::Running | Phase::Failed | Phase::Blocked => StoredPhase::Open,
        };
        let assignee = (ours || record.task.state.is_held()).then(|| who.clone());
        known.push(StoredTask { id: line.todo, phase, assignee });
    }
    report.differences = reconcile(document, &known).iter().map(told).collect();
    report.cycles = cycles(document);
    Ok(())
}

/// What the store knows goes into the file; what the file says about an open task goes into the store when that was
/// asked for.
async fn write_back(
    context: &Context,
    document: &Document,
    record: &TaskRecord,
    options: SyncOptions<'_>,
    report: &mut SyncReport,
) -> Result<(), ClaimFault> {
    let Some(line) = Line::of(&record.task) else { return Ok(()) };
    let Ok(Some(found)) = document.task(&line.todo) else { return Ok(()) };
    let (is_over, id) = (found.checkbox.releases(), &record.task.id);
    match record.task.state.phase() {
        Phase::Done if !is_over => match evidence(record) {
            Some(evidence) => {
                let marked = match tick(context, &line, evidence, options.run).await {
                    // The file has it otherwise, such as open parts; the rest goes on.
                    Err(ClaimFault::Complete(refused)) => {
                        report.notes.push(format!("{} was not marked: {refused}", line.todo));
                        return Ok(());
                    }
                    marked => marked?,
                };
                note(report, &line.todo, &marked);
                report.marked.push(line.todo);
            }
            None => report.notes.push(format!(
                "{id} is done, but no verify command has proved it, so {} was not ticked: tick it yourself, and set \
                 `verify` in [repository.\"{}\"] for the next",
                line.todo, record.task.spec.repository
            )),
        },
        // Its own mark was not made, or not for long enough: the remote may have been away.
        Phase::Failed | Phase::Blocked | Phase::Cancelled if !is_over && found.value(Field::Assignee).is_some() => {
            let marked = unclaim(context, &line, Whose::ThisStore, options.run).await?;
            if !matches!(marked, Marked::Anothers { .. } | Marked::Already) {
                note(report, &line.todo, &marked);
                report.released.push(line.todo);
            }
        }
        Phase::Queued | Phase::Waiting | Phase::Running | Phase::Failed | Phase::Blocked
            if is_over && is_cancelled(options.ended, &record.task.state) =>
        {
            if options.run == Run::Real {
                cancel(context, id, "TODO.md").await?;
            }
            report.cancelled.push(id.clone());
        }
        Phase::Queued
        | Phase::Waiting
        | Phase::Running
        | Phase::Done
        | Phase::Failed
        | Phase::Blocked
        | Phase::Cancelled => {}
    }
    Ok(())
}

fn is_cancelled(ended: Ended, state: &State) -> bool {
    match ended {
        Ended::Tell => false,
        Ended::CancelIdle => !state.is_held() && !matches!(state, State::Review { .. }),
        Ended::Cancel => true,
    }
}

/// Why the store calls a task done: a merged pull request, or checks that were run and are green.
fn evidence(record: &TaskRecord) -> Option<Evidence> {
    if let State::Done { delivered: Delivered::PullRequest { url, .. } } = &record.task.state
        && let Some(number) = url.rsplit('/').next().and_then(|number| number.parse().ok())
    {
        return Some(Evidence::PullRequest(number));
    }
    let receipt: Receipt = serde_json::from_value(record.receipt.clone()?).ok()?;
    (receipt.good && !receipt.findings.checks.is_empty()).then_some(Evidence::Verified)
}

fn note(report: &mut SyncReport, todo: &TaskId, marked: &Marked) {
    match marked {
        Marked::Confirmed { note: Some(note) } => report.notes.push(format!("{todo}: {note}")),
        Marked::Offline(why) => report.notes.push(format!("{todo} could not be written: {why}")),
        Marked::Anothers { by } => report.notes.push(format!("{todo} was left alone: it is claimed by {by}")),
        Marked::Confirmed { note: None } | Marked::Local | Marked::Already | Marked::NotNeeded | Marked::Would => {}
    }
}

/// Makes the issues that were wanted and could not be made before.
async fn catch_up_issues(
    context: &Context,
    document: &Document,
    shared: &Shared,
    stored: &[TaskRecord],
    report: &mut SyncReport,
) {
    for record in stored.iter().filter(|record| record.task.spec.with_issue && !record.task.state.phase().is_settled())
    {
        let Some(line) = Line::of(&record.task) else { continue };
        let found = document.task(&line.todo).ok().flatten();
        if found.is_some_and(|line| line.github_issue().is_none()) {
            let problem = create(context, &line, &record.task.spec.description).await;
            let is_made = problem.is_none();
            report.notes.extend(problem);
            if is_made && found.is_some_and(|line| line.value(Field::Assignee).is_some()) {
                report.notes.extend(assign(context, &line, shared).await);
            }
        }
    }
}

async fn make_issues(context: &Context, document: &Document, repository: &Path, base: &str, report: &mut SyncReport) {
    for added in report.added.clone() {
        let found = document.task(&added.todo).ok().flatten();
        if found.is_some_and(|line| line.github_issue().is_none()) {
            let line = Line::new(repository, base, &added.todo);
            report.notes.extend(create(context, &line, &added.description).await);
        }
    }
}
