//! Changes of tasks: the task, its audit row, what is to be done outside, its run and the tasks that wait for it, in
//! one transaction or not at all.
//!
//! Only state, tally, epoch and receipt change here. What was asked for is written once, and the batch has a call of
//! its own.

use super::{
    SqliteStore,
    claim::{self, Claimed},
    dependency, event, row, run,
    script::{Script, Write},
    task::{self, json, unwritable},
};
use crate::{Changed, Result, RunChange, TaskChange, TaskRecord};
use shuntyard_core::work::task::Task;
use sqlx::{Row as _, sqlite::SqliteRow};

const CHANGE: &str = "
    UPDATE task SET state = ?, phase = ?, tally = ?, epoch = ?, wakes_at = ?, changed_at = ?,
                    receipt = coalesce(?, receipt), version = version + 1
    WHERE id = ?";

const EFFECT: &str = "
    INSERT INTO effect (task, epoch, at, kind, data, free_at) VALUES (?, ?, ?, ?, ?, ?)";

/// Looks in one go and writes in another.
pub(super) async fn change(store: &SqliteStore, change: &TaskChange) -> Result<Changed> {
    let (mut look, mut script) = (Script::default(), Script::default());
    look.add(task::ONE).bind(change.task.id.as_str());
    match &change.run {
        RunChange::Begin(new) => claim::ask_full(&mut look, new)?,
        RunChange::End(_) | RunChange::Follow { .. } => run::ask_held(&mut look, &change.task.id),
        RunChange::Note(_) => {}
    }
    let (mut write, rows) = Write::after(store, look, "change the task").await?;
    let (Some(before), asked) = (rows.first(), rows.get(1)) else { return Err(task::unknown(&change.task.id)) };
    // Without the task, the first row is the answer to the other question.
    let before = match before.try_get_raw("version") {
        Ok(_) => task::record(before)?,
        Err(_) => return Err(task::unknown(&change.task.id)),
    };
    if before.version != change.version {
        write.leave().await?;
        return Ok(Changed::Stale);
    }
    match &change.run {
        RunChange::Note(note) => run::note_any(&mut script, &before.task.id, before.task.epoch, note),
        RunChange::Begin(new) => {
            let seen = (&before, asked);
            match claim::claim(&mut write, &mut script, seen, change.task.epoch, new).await? {
                Claimed::Done => {}
                Claimed::Refused(refused) => {
                    write.leave().await?;
                    return Ok(refused);
                }
            }
        }
        RunChange::End(note) => {
            refuse_free(asked, &before.task)?;
            run::end(&mut script, &before.task, change.at, note);
        }
        RunChange::Follow { ended, lease_until } => {
            refuse_free(asked, &before.task)?;
            run::end(&mut script, &before.task, change.at, ended);
            run::follow(&mut script, &before.task, change.task.epoch, change.at, *lease_until);
        }
    }
    self::write(&mut script, change)?;
    if before.task.state.phase().releases() != change.task.state.phase().releases() {
        dependency::recount(&mut script, &change.task.id);
    }
    write.commit(script).await?;
    Ok(Changed::Done(Box::new(after(before, change))))
}

/// Only what is held can be ended.
fn refuse_free(held: Option<&SqliteRow>, task: &Task) -> Result<()> {
    if held.map_or(Ok(false), |row| row::get(row, "held"))? { Ok(()) } else { Err(run::not_held(task)) }
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
    event::tell(script, change.at, &format!("task.{}", change.change.to), task.id.as_str(), &audit);
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
