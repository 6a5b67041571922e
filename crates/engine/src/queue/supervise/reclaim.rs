//! Runs to reclaim: their worker is gone, never came, or shows no life for longer than its lease.
//!
//! Invariant: before a task is taken away from a worker of this machine, that worker and all that it started are ended.
//! A worker that was only asleep can therefore write nothing more.

use super::{
    change::{Became, ChangeError, With, attempt},
    claim::launch,
    tidy::end_processes,
};
use crate::{
    Context,
    base::owner::{identity_of, is_gone, same_machine},
    servers::recovery::recover_abandoned,
};
use shuntyard_core::{
    Nano,
    settings::micros,
    work::task::{Event, State, TaskId},
};
use shuntyard_host::{ProcessIdentity, clock::now_micros};
use shuntyard_store::{ErrorKind, RunNote, RunRecord, TaskRecord};
use std::time::Duration;

/// How long a worker that lives has for showing it.
const SECOND_LOOK: Duration = Duration::from_secs(2);
/// Open dispatches that are looked at.
const OPEN: u32 = 500;

/// Reclaims the tasks of such runs. Returns their number.
pub(crate) async fn reclaim_lost_runs(context: &Context, runs: &[RunRecord]) -> Result<u32, ChangeError> {
    let mut taken = 0;
    for run in runs {
        if let Some(detail) = why_lost(run)
            && take(context, run, detail).await?
        {
            taken += 1;
        }
    }
    Ok(taken)
}

fn why_lost(run: &RunRecord) -> Option<String> {
    let expired = run.lease_until <= now_micros();
    match &run.worker {
        Some(worker) if is_gone(worker) => Some("its worker died".to_owned()),
        Some(_) if expired => Some("its worker showed no sign of life for longer than its lease".to_owned()),
        None if expired => Some("its worker never reported".to_owned()),
        Some(_) | None => None,
    }
}

async fn take(context: &Context, run: &RunRecord, detail: String) -> Result<bool, ChangeError> {
    let record = match context.store.task(&run.task).await {
        Ok(record) => record,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    if record.task.epoch != run.epoch || !record.task.state.is_held() {
        return Ok(false);
    }
    // The process that claimed it may have noted the worker and ended since the runs were read.
    let live = context.store.live_runs().await?;
    let still = live.iter().find(|now| now.task == run.task && now.epoch == run.epoch);
    let Some(run) = still.filter(|now| why_lost(now).is_some()) else { return Ok(false) };
    let lives = same_machine(&run.host) && worker_of(run).is_some_and(|worker| worker.is_alive());
    if lives && renews_after_all(context, run).await? {
        return Ok(false);
    }
    reclaim(context, run, &record, detail).await
}

/// What became of the wish to take a task from its worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Released {
    Done,
    /// Its worker shows signs of life, and no force was asked for.
    AtWork,
    /// It has changed meanwhile, or something still writes to its workspace.
    NotNow,
}

/// Takes a task from its worker because a person says so. By force also from one that shows signs of life.
pub async fn release(context: &Context, id: &TaskId, force: bool) -> Result<Released, ChangeError> {
    let live = context.store.live_runs().await?;
    let Some(run) = live.iter().find(|run| run.task == *id) else { return Ok(Released::NotNow) };
    if !force && why_lost(run).is_none() {
        return Ok(Released::AtWork);
    }
    let record = context.store.task(id).await?;
    if record.task.epoch != run.epoch || !record.task.state.is_held() {
        return Ok(Released::NotNow);
    }
    if reclaim(context, run, &record, "a person released it".to_owned()).await? {
        return Ok(Released::Done);
    }
    // A supervisor may have seen the end of the worker first, and reclaimed the task itself.
    let now = context.store.task(id).await?.task;
    Ok(if now.epoch != run.epoch || !now.state.is_held() { Released::Done } else { Released::NotNow })
}

/// Before the worker has reported, the run names the process that claimed.
fn worker_of(run: &RunRecord) -> Option<ProcessIdentity> {
    run.worker.as_ref().filter(|_| run.started_at.is_some()).and_then(identity_of)
}

async fn reclaim(context: &Context, run: &RunRecord, record: &TaskRecord, detail: String) -> Result<bool, ChangeError> {
    // What another machine has cannot be ended from here; its worker finds out by its epoch.
    if same_machine(&run.host) {
        let worker = worker_of(run);
        end_processes(context, &run.task, run.epoch, worker).await;
        // The agent of a dead worker may still be at work on its server, in the worktree that the next will have.
        drop(recover_abandoned(context, None).await);
        if is_still_written_to(context, run).await? {
            return Ok(false);
        }
    }
    let stopping = matches!(record.task.state, State::Stopping { .. });
    let outcome = Some(if stopping { "cancelled" } else { "lost" }.to_owned());
    let note = RunNote { outcome, cost: settled_cost(context, run).await?, ..RunNote::default() };
    let lease_until = now_micros().saturating_add(micros(context.config.supervise.start_timeout));
    let with = With { note, lease_until, ..With::default() };
    match attempt(context, record, &Event::Lose { detail }, &with).await? {
        Some(Became::Done(record)) => {
            // What was worked on is not worked on again: the next worker goes on from there, in the same slots.
            if matches!(record.task.state, State::Starting { .. }) {
                launch(context, &record).await?;
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}

/// What the dispatch of a run that was lost or stopped was settled at, and whether that is exact. `None` when it never
/// began.
pub(super) async fn settled_cost(context: &Context, run: &RunRecord) -> Result<Option<(Nano, bool)>, ChangeError> {
    let Some(dispatch) = run.dispatch else { return Ok(None) };
    match context.store.dispatch(dispatch).await {
        Ok(record) => {
            let cost = record.attempts.iter().map(|attempt| attempt.cost).sum();
            Ok(Some((cost, record.attempts.iter().all(|attempt| attempt.cost_known))))
        }
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// A machine that slept, or whose clock was set, finds every lease expired. A worker that lives lengthens its own
/// within a moment.
async fn renews_after_all(context: &Context, run: &RunRecord) -> Result<bool, ChangeError> {
    tokio::time::sleep(SECOND_LOOK).await;
    let live = context.store.live_runs().await?;
    let now = live.iter().find(|now| now.task == run.task && now.epoch == run.epoch);
    Ok(now.is_none_or(|now| now.lease_until > now_micros()))
}

/// Whether a dispatch in its worktree could not be ended: then its server is looked after first, by its keeper.
async fn is_still_written_to(context: &Context, run: &RunRecord) -> Result<bool, ChangeError> {
    let Some(worktree) = &run.worktree else { return Ok(false) };
    let open = context.store.unfinished_dispatches(OPEN).await?;
    Ok(open.iter().any(|dispatch| dispatch.directory == *worktree))
}
