//! The one way in which a task changes: read it, ask `core` what the event makes of it, write that with its audit row,
//! its effects and its run; and begin again when another process was faster.

use crate::{Context, settings_of};
use serde_json::Value;
use shuntyard_core::settings::Merging;
use shuntyard_core::work::task::{Agent, Change, Effect, Event, Illegal, Resumed, Slot, TaskId, step};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{Changed, NewRun, RunChange, RunNote, StoreError, TaskChange, TaskRecord};
use std::path::Path;

/// How often another process may be faster before it counts as a fault.
const TRIES: u32 = 50;

#[derive(Debug, thiserror::Error)]
pub enum ChangeError {
    #[error(transparent)]
    Illegal(#[from] Illegal),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The task belongs to a later claim: the process that gets this must stop, and may write nothing more.
    #[error("{task} was taken over: this was claim {epoch}, and it is at claim {now}")]
    Fenced { task: TaskId, epoch: i64, now: i64 },
    #[error("{entry} is an entry of {contest}, and that contest is settled")]
    LoneEntry { entry: TaskId, contest: TaskId },
    #[error("{0} is changed by others all the time; try again")]
    Contended(TaskId),
}

/// What goes with a change besides the event.
#[derive(Debug, Clone, Default)]
pub(crate) struct With {
    pub(crate) note: RunNote,
    /// For a claim.
    pub(crate) run: Option<Box<NewRun>>,
    /// How long a run that follows another holds the task.
    pub(crate) lease_until: i64,
    pub(crate) receipt: Option<Value>,
    /// For a claim: how its model was chosen.
    pub(crate) route: Option<Value>,
}

/// What became of a claim, or of any other change.
#[derive(Debug)]
pub(crate) enum Became {
    Done(Box<TaskRecord>),
    NoSlot(Slot),
    NoMoney { ceiling: usize, settled: i64, reserved: i64 },
}

/// Changes a task without a claim on it: for a person, or a pulse.
pub(crate) async fn change(context: &Context, id: &TaskId, event: &Event, with: &With) -> Result<Became, ChangeError> {
    for _ in 0..TRIES {
        let record = context.store.task(id).await?;
        if let Some(became) = attempt(context, &record, event, with).await? {
            return Ok(became);
        }
    }
    Err(ChangeError::Contended(id.clone()))
}

/// Changes a task as the holder of a claim, and only as long as it is the newest.
pub(crate) async fn change_as(
    context: &Context,
    id: &TaskId,
    epoch: i64,
    event: &Event,
    with: &With,
) -> Result<Box<TaskRecord>, ChangeError> {
    for _ in 0..TRIES {
        let record = context.store.task(id).await?;
        if record.task.epoch != epoch || !record.task.state.is_held() {
            return Err(ChangeError::Fenced { task: id.clone(), epoch, now: record.task.epoch });
        }
        if let Some(Became::Done(record)) = attempt(context, &record, event, with).await? {
            return Ok(record);
        }
    }
    Err(ChangeError::Contended(id.clone()))
}

/// The same for a holder who has the task as it was written last, and need not read it first.
pub(crate) async fn change_held(
    context: &Context,
    record: &TaskRecord,
    event: &Event,
    with: &With,
) -> Result<Box<TaskRecord>, ChangeError> {
    match attempt(context, record, event, with).await? {
        Some(Became::Done(record)) => Ok(record),
        _ => change_as(context, &record.task.id, record.task.epoch, event, with).await,
    }
}

/// Whether an effect has a receiver; one without is not stored as pending.
fn is_wanted(context: &Context, record: &TaskRecord, effect: &Effect) -> bool {
    match effect {
        Effect::Notify { .. } => context.config.supervise.notifies(),
        Effect::Learn { .. } => matches!(record.task.spec.agent, Agent::Opencode { .. }),
        Effect::RebaseSiblings => {
            let repository = Path::new(&record.task.spec.repository);
            settings_of(&context.config, repository).merge != Merging::Never
        }
        Effect::Mark { .. } | Effect::Tidy | Effect::Diagnose | Effect::WakeContest | Effect::CancelEntries => true,
    }
}

/// One try, on what was read. Nothing when another process was faster.
pub(crate) async fn attempt(
    context: &Context,
    record: &TaskRecord,
    event: &Event,
    with: &With,
) -> Result<Option<Became>, ChangeError> {
    let now = now_micros();
    let rules = context.config.supervise.rules(&context.config.tier_order);
    let step = step(&record.task, event.clone(), &rules, now)?;
    let run = match step.resumed {
        Resumed::Same => RunChange::Note(with.note.clone()),
        Resumed::Begins => match &with.run {
            Some(run) => RunChange::Begin(run.clone()),
            None => RunChange::Note(with.note.clone()),
        },
        Resumed::Ends => RunChange::End(with.note.clone()),
        Resumed::Follows(_) => RunChange::Follow { ended: with.note.clone(), lease_until: with.lease_until },
    };
    let change = TaskChange {
        task: step.task,
        version: record.version,
        at: now,
        change: Change { route: with.route.clone(), ..step.change },
        effects: step.effects.into_iter().filter(|effect| is_wanted(context, record, effect)).collect(),
        run,
        receipt: with.receipt.clone(),
    };
    Ok(match context.store.change_task(&change).await? {
        Changed::Done(record) => Some(Became::Done(record)),
        Changed::Stale => None,
        Changed::NoSlot(slot) => Some(Became::NoSlot(slot)),
        Changed::NoMoney { ceiling, settled, reserved } => Some(Became::NoMoney { ceiling, settled, reserved }),
    })
}
