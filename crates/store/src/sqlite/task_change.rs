//! Changes of tasks: the task, its audit row, what is to be done outside, its run and whoever waits for it, in one
//! transaction or not at all.
//!
//! Only state, tally, epoch and receipt change here. What was asked for is written once, and the batch has a call of
//! its own.

use super::{
    SqliteStore,
    claim::{self, Claimed},
    dependency, event,
    fault::failed,
    run,
    script::Script,
    task::{self, json, unwritable},
};
use crate::{Changed, Result, RunChange, TaskChange, TaskRecord};
use switchyard_core::task::Task;

const CHANGE: &str = "
    UPDATE task SET state = ?, phase = ?, tally = ?, epoch = ?, wakes_at = ?, changed_at = ?,
                    receipt = coalesce(?, receipt), version = version + 1
    WHERE id = ?";

const EFFECT: &str = "
    INSERT INTO effect (task, epoch, at, kind, data, free_at) VALUES (?, ?, ?, ?, ?, ?)";

pub(super) async fn change(store: &SqliteStore, change: &TaskChange) -> Result<Changed> {
    let mut transaction = store.write().await?;
    let before = task::one(&mut *transaction, &change.task.id).await?;
    if before.version != change.version {
        return Ok(Changed::Stale);
    }
    match &change.run {
        RunChange::Note(note) => run::note_any(&mut transaction, &before.task, note).await?,
        RunChange::Begin(new) => match claim::claim(&mut transaction, &before, change.task.epoch, new).await? {
            Claimed::Done => {}
            Claimed::Refused(refused) => return Ok(refused),
        },
        RunChange::End(note) => run::end(&mut transaction, &before.task, change.at, note).await?,
        RunChange::Follow { ended, lease_until } => {
            run::end(&mut transaction, &before.task, change.at, ended).await?;
            run::follow(&mut transaction, &before.task, change.task.epoch, change.at, *lease_until).await?;
        }
    }
    let mut script = Script::default();
    write(&mut script, change)?;
    if before.task.state.phase().releases() != change.task.state.phase().releases() {
        dependency::recount(&mut script, &change.task.id);
    }
    script.run(&mut transaction).await.map_err(failed("change the task"))?;
    transaction.commit().await.map_err(failed("change the task"))?;
    Ok(Changed::Done(Box::new(after(before, change))))
}

fn write(script: &mut Script, change: &TaskChange) -> Result<()> {
    let task = &change.task;
    script
        .add(CHANGE)
        .bind(json(&task.state)?)
        .bind(task.state.phase().as_str())
        .bind(json(&task.tally)?)
        .bind(task.epoch)
        .bind(task.state.wakes_at())
        .bind(task.changed_at)
        .bind(change.receipt.as_ref().map(ToString::to_string))
        .bind(task.id.as_str());
    let audit = serde_json::to_value(&change.change).map_err(unwritable)?;
    event::tell(script, change.at, &format!("task.{}", task.state.name()), task.id.as_str(), &audit);
    for effect in &change.effects {
        script
            .add(EFFECT)
            .bind(task.id.as_str())
            .bind(task.epoch)
            .bind(change.at)
            .bind(effect.kind())
            .bind(json(effect)?)
            .bind(change.at);
    }
    Ok(())
}

/// The row as it was written, without reading it again.
fn after(before: TaskRecord, change: &TaskChange) -> TaskRecord {
    let Task { state, tally, epoch, changed_at, .. } = change.task.clone();
    TaskRecord {
        task: Task { state, tally, epoch, changed_at, ..before.task },
        version: before.version.saturating_add(1),
        receipt: change.receipt.clone().or(before.receipt),
        ..before
    }
}
