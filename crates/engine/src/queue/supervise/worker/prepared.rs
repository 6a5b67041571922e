//! What comes before an agent begins: its workspace, the repository's setup command, and the verify commands that have
//! to fail first.

use super::{
    WorkError, agent,
    clean::{self, CleanCheckout},
    collect::keep_work,
    contest, current,
    ended::Ended,
    life::Life,
    place::{Place, with_source},
    workspace::prepare,
};
use crate::{Context, queue::supervise::fault::fault};
use shuntyard_core::work::task::{Check, End, Failure};
use shuntyard_host::git::{GitError, Uncommitted, Workspace};
use shuntyard_store::{RunNote, RunRecord, TaskRecord};

/// Has it done in a workspace, that is made or found again.
pub(super) async fn in_workspace(context: &Context, record: &TaskRecord, life: &Life) -> Result<Ended, WorkError> {
    let runs = context.store.runs(&record.task.id).await?;
    let run = current(&runs, record.task.epoch);
    let place = match prepare(context, &record.task, &runs, Uncommitted::Work).await {
        Ok(place) => place,
        Err(failure) => return Ok(Ended::not_prepared(failure)),
    };
    fault(context, "placed");
    if !context.store.note_run(&record.task.id, record.task.epoch, &placed(&place)).await? {
        return Err(WorkError::Over);
    }
    if let Err(problem) = set_up(context, record, &place, life).await {
        return Ok(Ended::not_started(problem));
    }
    let before = match before_work(context, record, &place, &runs, life).await {
        Ok(before) => before,
        Err(problem) => return Ok(Ended::not_started(problem)),
    };
    if record.task.spec.verification.expect_red_first && before.iter().all(|check| check.exit.is_green()) {
        return Ok(Ended { before, ..Ended::with(End::GreenBefore) });
    }
    let mut ended = match contest::to_take(&record.task) {
        Some(decided) => contest::take(context, record, &place, decided).await,
        None => agent::run(context, record, run, &place, life).await?,
    };
    let aside = Workspace::left_aside(&place.directory);
    ended.notes.extend(aside.iter().map(|path| format!("an earlier workspace is kept as it was: {}", path.display())));
    Ok(Ended { before, ..ended })
}

fn placed(place: &Place) -> RunNote {
    RunNote {
        worktree: Some(place.directory.display().to_string()),
        branch: place.branch.clone(),
        base: place.base.clone(),
        ..RunNote::default()
    }
}

/// Prepares a new workspace once. What that leaves is no work.
async fn set_up(context: &Context, record: &TaskRecord, place: &Place, life: &Life) -> Result<(), String> {
    let words = |error: GitError| format!("its workspace could not be prepared: failed to {}", with_source(&error));
    let mut workspace = place.workspace().map_err(words)?;
    if workspace.record.set_up {
        return Ok(());
    }
    if clean::setup_command(context, record).is_none() {
        // Nothing has run in it that could have left anything.
        workspace.record.set_up = true;
        return workspace.save_record().map_err(words);
    }
    let head = workspace.current_head().map_err(words)?.unwrap_or_else(|| workspace.record.base.clone());
    workspace.begin_setup().map_err(words)?;
    clean::set_up(context, record, &workspace, Some(life), &record.task.epoch.to_string()).await?;
    let ignored = tokio::task::spawn_blocking(move || workspace.ignore_leftovers(&head)).await;
    ignored.map_err(|error| error.to_string())?.map_err(words)
}

/// The verify commands on the base, for a task that wants one of them to fail there.
async fn before_work(
    context: &Context,
    record: &TaskRecord,
    place: &Place,
    runs: &[RunRecord],
    life: &Life,
) -> Result<Vec<Check>, String> {
    if !record.task.spec.verification.expect_red_first {
        return Ok(Vec::new());
    }
    let known = Ended::latest(runs, record.receipt.as_ref()).before;
    if !known.is_empty() {
        return Ok(known);
    }
    let base = place.base.clone().unwrap_or_default();
    let words = |error: GitError| format!("a clean checkout could not be made: failed to {}", with_source(&error));
    let clean = CleanCheckout::make(context, &record.task, Some(place), &base, "before").await.map_err(words)?;
    let checks = clean.verify(context, record, Some(life), &format!("{}.before", record.task.epoch)).await;
    clean.remove().await;
    checks
}

/// Where the work of a task is.
#[derive(Debug)]
pub(super) enum Located {
    /// It never had a place.
    Nowhere,
    At(Place),
    /// An earlier release did and judged it in a worktree of the user's repository. It was moved just now.
    Moved(Place),
    /// The same, and it could not be moved.
    Stuck(Failure),
}

pub(super) async fn locate(context: &Context, record: &TaskRecord, runs: &[RunRecord]) -> Result<Located, WorkError> {
    let Some(place) = Place::of_run(&record.task, runs) else { return Ok(Located::Nowhere) };
    if place.branch.is_none() {
        return Ok(Located::At(place));
    }
    let looked = place.clone();
    let is_linked = crate::in_thread(move || !looked.exists() && looked.is_linked());
    if !is_linked.await? {
        return Ok(Located::At(place));
    }
    match prepare(context, &record.task, runs, Uncommitted::Leftovers).await {
        Ok(moved) => {
            let (id, epoch) = (&record.task.id, record.task.epoch);
            if !context.store.note_run(id, epoch, &placed(&moved)).await? {
                return Err(WorkError::Over);
            }
            // The commit that is judged and delivered is the one on the newest base.
            match keep_work(&record.task, &moved).await {
                Ok(_) => Ok(Located::Moved(moved)),
                Err(End::NotStarted { message }) => Ok(Located::Stuck(Failure::environment("work", message))),
                Err(end) => {
                    let detail = format!("the work of an earlier release could not be collected: {end:?}");
                    Ok(Located::Stuck(Failure::environment("work", detail)))
                }
            }
        }
        Err(failure) => Ok(Located::Stuck(failure)),
    }
}
