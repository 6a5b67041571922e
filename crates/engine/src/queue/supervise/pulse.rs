//! One pass: reclaim expired leases, wake what is due, end what is to end, perform pending effects, start what may
//! start.
//!
//! Any number of passes may run at once, on one machine or many: what protects the work are the claims in the store,
//! never who came first.

use super::{
    change::{ChangeError, With, attempt, change},
    claim::{Claimed, claim},
    effects::perform_due,
    reclaim::reclaim_lost_runs,
    reviews,
    snapshot::{limits_of, live_now, snapshot},
    status::span,
    tidy::end_processes,
    todo::{TodoPass, look_where_due},
};
use crate::{
    Context,
    base::owner::{here, identity_of},
};
use futures_util::future::BoxFuture;
use serde::Serialize;
use shuntyard_core::{
    settings::micros,
    work::task::{Breaker, Event, Slot, State, TaskId, order},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{More, RunNote, RunRecord};
use std::collections::BTreeSet;

/// Of every line so many are looked at in one go, and so often further down.
const EACH: u32 = 16;
const DEEPER: u32 = 16;
/// Tasks that are woken in one pass.
const DUE: u32 = 500;

/// What a pass did.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pulse {
    pub started: Vec<TaskId>,
    pub taken_back: u32,
    pub woken: u32,
    pub stopped: u32,
    pub effects: u32,
    /// Synchronisations of a repository's TODO.md that changed something or went wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub todo: Vec<TodoPass>,
    /// Why nothing more was started, when something could have been.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<String>,
}

impl Pulse {
    /// Whether it changed nothing.
    #[must_use]
    pub fn is_idle(&self) -> bool {
        self.started.is_empty() && self.todo.is_empty() && self.is_final()
    }

    /// Whether another pass right away would find nothing more to do. What could be started was started last.
    pub(super) fn is_final(&self) -> bool {
        self.taken_back == 0 && self.woken == 0 && self.stopped == 0 && self.effects == 0
    }
}

/// With a batch, only tasks of that batch are started; the pending effects of others are performed all the same.
pub async fn pulse(context: &Context, batch: Option<&str>) -> Result<Pulse, ChangeError> {
    let mut done = pass(context, batch).await?;
    // Last, since a remote may take its time, and nothing that can start should wait for it.
    let (reviews, todo) = tokio::join!(reviews::look_where_due(context), look_where_due(context, batch));
    done.todo = todo;
    if reviews? || done.todo.iter().any(|todo| !todo.added.is_empty() || !todo.cancelled.is_empty()) {
        start(context, batch, &mut done).await?;
    }
    Ok(done)
}

// Boxed, so that the body is compiled once and not in every crate that awaits it.
pub(super) fn pass<'a>(context: &'a Context, batch: Option<&'a str>) -> BoxFuture<'a, Result<Pulse, ChangeError>> {
    Box::pin(async move {
        let mut done = Pulse::default();
        let live = context.store.live_runs().await?;
        done.taken_back = reclaim_lost_runs(context, &live).await?;
        done.stopped = end_stopping(context, &live).await?;
        done.woken = wake(context).await?;
        done.effects = perform_due(context).await?;
        start(context, batch, &mut done).await?;
        Ok(done)
    })
}

/// Ends the runs that are to stop, when they are on this machine.
async fn end_stopping(context: &Context, live: &[RunRecord]) -> Result<u32, ChangeError> {
    let mut stopped = 0;
    for run in live.iter().filter(|run| run.host == here()) {
        let record = context.store.task(&run.task).await?;
        if !matches!(record.task.state, State::Stopping { .. }) || record.task.epoch != run.epoch {
            continue;
        }
        // A worker that lives has seen it, or will within a second, and ends by itself.
        let patient = record.task.changed_at.saturating_add(micros(context.config.supervise.start_timeout));
        if run.started_at.is_some() && now_micros() < patient {
            continue;
        }
        let worker = run.worker.as_ref().filter(|_| run.started_at.is_some()).and_then(identity_of);
        end_processes(context, &run.task, run.epoch, worker).await;
        let note = RunNote { outcome: Some("cancelled".to_owned()), ..RunNote::default() };
        let with = With { note, ..With::default() };
        stopped += u32::from(attempt(context, &record, &Event::Stopped, &with).await?.is_some());
    }
    Ok(stopped)
}

async fn wake(context: &Context) -> Result<u32, ChangeError> {
    let mut woken = 0;
    for record in context.store.due_tasks(now_micros(), DUE).await? {
        // Pull requests are looked at later: others are asked about them, and may take their time.
        if !matches!(record.task.state, State::Waiting { .. }) {
            continue;
        }
        match change(context, &record.task.id, &Event::Wake, &With::default()).await {
            Ok(_) => woken += 1,
            // Another process was faster.
            Err(ChangeError::Illegal(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(woken)
}

/// Starts what may start, until the limits are reached or no task is left.
async fn start(context: &Context, batch: Option<&str>, done: &mut Pulse) -> Result<(), ChangeError> {
    let snapshot = snapshot(context, batch, EACH).await?;
    if let Breaker::Open { until } = snapshot.breaker {
        let left = span(now_micros(), until);
        done.held = Some(format!(
            "the last runs failed because of their environment; nothing is started for {left} \
             (`shuntyard pulse --clear-breaker` ends that)"
        ));
        return Ok(());
    }
    if snapshot.ready.candidates.is_empty() {
        return Ok(());
    }
    let limits = limits_of(context, &snapshot.batches).await;
    let mut full: BTreeSet<String> = BTreeSet::new();
    let (mut ready, mut live) = (snapshot.ready, snapshot.live);
    for round in 1..=DEEPER {
        let turnout = order(&ready.candidates, &live, &limits);
        for id in &turnout.start {
            let Some(candidate) = ready.candidates.iter().find(|candidate| candidate.id == *id) else { continue };
            match claim(context, candidate, &limits).await? {
                Claimed::Started => done.started.push(id.clone()),
                Claimed::NoSlot(slot) => {
                    full.insert(slot.shown());
                }
                Claimed::PutOff | Claimed::Gone => {}
                Claimed::Nowhere(why) => {
                    done.held = Some(why);
                    return Ok(());
                }
            }
        }
        full.extend(turnout.held.iter().map(|(_, hold)| hold.slot.shown()));
        done.held = (!full.is_empty()).then(|| full.iter().cloned().collect::<Vec<_>>().join("; "));
        let everywhere = |slot: &Slot| slot.name.is_empty();
        if ready.more == More::No || turnout.held.iter().any(|(_, hold)| everywhere(&hold.slot)) {
            return Ok(());
        }
        ready = context.store.ready_tasks(batch, round * EACH, EACH).await?;
        live = live_now(context).await?;
    }
    Ok(())
}

/// Which tasks a pass would start now, as far as that is known before the claims.
pub async fn would_start(context: &Context, batch: Option<&str>) -> Result<Pulse, ChangeError> {
    let snapshot = snapshot(context, batch, EACH).await?;
    let limits = limits_of(context, &snapshot.batches).await;
    let turnout = order(&snapshot.ready.candidates, &snapshot.live, &limits);
    let held = turnout.held.first().map(|(_, hold)| hold.slot.shown());
    Ok(Pulse { started: turnout.start, held, ..Pulse::default() })
}
