//! Orders of people about a task: stop it, try again, begin again. An order for a contest holds for its entries.

use super::{
    change::{Became, ChangeError, With, change},
    contest::{is_undecided, records},
};
use crate::Context;
use shuntyard_core::work::task::{Event, Phase, State, TaskId, step};
use shuntyard_host::clock::now_micros;
use shuntyard_store::TaskRecord;

/// A task that is at work is stopped first; it says so until its worker has ended.
pub async fn cancel(context: &Context, id: &TaskId, by: &str) -> Result<TaskRecord, ChangeError> {
    let cancelled = order(context, id, Event::Cancel { by: by.to_owned() }).await?;
    if cancelled.task.spec.contest.is_some() {
        cancel_entries(context, id).await?;
    }
    Ok(cancelled)
}

/// Ends the entries of a contest that was cancelled. Should the process that cancelled it die, an effect does this.
pub(super) async fn cancel_entries(context: &Context, id: &TaskId) -> Result<String, ChangeError> {
    let contest = context.store.task(id).await?.task;
    if !matches!(contest.state, State::Cancelled { .. }) {
        return Ok("it goes on".to_owned());
    }
    let mut cancelled = 0;
    for entry in records(context, &contest).await? {
        if entry.task.state.phase().is_settled() {
            continue;
        }
        match order(context, &entry.task.id, Event::Cancel { by: format!("{id}, which was cancelled") }).await {
            Ok(_) => cancelled += 1,
            // It has ended by itself, or was already stopping.
            Err(ChangeError::Illegal(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(format!("{cancelled} entries were cancelled"))
}

/// Another try, with all that the earlier ones found out. The entries of a contest without a winner are tried again,
/// except those that are done.
pub async fn retry(context: &Context, id: &TaskId) -> Result<TaskRecord, ChangeError> {
    let record = context.store.task(id).await?;
    refuse_lone_entry(context, &record).await?;
    if is_undecided(&record.task) {
        check(context, &record, &Event::Retry)?;
        // First the entries: a contest that finds none to wait for would end again at once.
        for entry in records(context, &record.task).await? {
            let phase = entry.task.state.phase();
            if phase.is_settled() && phase != Phase::Done {
                order(context, &entry.task.id, Event::Retry).await?;
            }
        }
    }
    order(context, id, Event::Retry).await
}

/// As if it had just been added. Its earlier work stays on a branch.
pub async fn reset(context: &Context, id: &TaskId) -> Result<TaskRecord, ChangeError> {
    let record = context.store.task(id).await?;
    refuse_lone_entry(context, &record).await?;
    if record.task.spec.contest.is_some() {
        let entries = records(context, &record.task).await?;
        for record in entries.iter().chain([&record]) {
            check(context, record, &Event::Reset)?;
        }
        for entry in entries {
            order(context, &entry.task.id, Event::Reset).await?;
        }
    }
    order(context, id, Event::Reset).await
}

/// Another attempt of an entry would be paid for nothing once its contest does not wait for it any more.
async fn refuse_lone_entry(context: &Context, record: &TaskRecord) -> Result<(), ChangeError> {
    let Some(contest) = &record.task.spec.entry_of else { return Ok(()) };
    let is_settled = context.store.task(contest).await?.task.state.phase().is_settled();
    match is_settled {
        true => Err(ChangeError::LoneEntry { entry: record.task.id.clone(), contest: contest.clone() }),
        false => Ok(()),
    }
}

/// Whether it could happen now.
fn check(context: &Context, record: &TaskRecord, event: &Event) -> Result<(), ChangeError> {
    let rules = context.config.supervise.rules(&context.config.tier_order);
    step(&record.task, event.clone(), &rules, now_micros())?;
    Ok(())
}

async fn order(context: &Context, id: &TaskId, event: Event) -> Result<TaskRecord, ChangeError> {
    match change(context, id, &event, &With::default()).await? {
        Became::Done(record) => Ok(*record),
        // Only a claim takes slots or money.
        Became::NoSlot(_) | Became::NoMoney { .. } => Err(ChangeError::Contended(id.clone())),
    }
}
