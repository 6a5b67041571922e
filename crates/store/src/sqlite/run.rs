//! Runs: claims of tasks, from the claim to the end. What holds a run is the epoch: as soon as the task has another
//! one, or the run has ended, whoever worked under it can write nothing more.

use super::{SqliteStore, fault::failed};
use crate::{ErrorKind, NewRun, Result, RunNote, StoreError};
use sqlx::{Sqlite, SqliteConnection, query, sqlite::SqliteArguments};
use switchyard_core::{
    pattern::FailureMode,
    task::{Task, TaskId},
};

const BEGIN: &str = "
    INSERT INTO run (task, epoch, dispatch, repository, batch, parent, model, tier, host, claimed_at, progress_at,
                     lease_until, worker_host, worker_pid, worker_start)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?10, ?11, ?12, ?13, ?14)";

/// The next one has what the last had, except its money, its worker and what came of it.
const FOLLOW: &str = "
    INSERT INTO run (task, epoch, repository, batch, parent, model, tier, host, claimed_at, progress_at, lease_until,
                     worktree, branch, base)
    SELECT task, ?3, repository, batch, parent, model, tier, host, ?4, ?4, ?5, worktree, branch, base
    FROM run WHERE task = ?1 AND epoch = ?2";

/// What is not noted stays. Of two costs the higher counts, with whether it is all of it.
macro_rules! note {
    ($more:literal, $rest:literal) => {
        concat!(
            "UPDATE run SET
                 worker_host = coalesce(?4, worker_host), worker_pid = coalesce(?5, worker_pid),
                 worker_start = coalesce(?6, worker_start), started_at = coalesce(?7, started_at),
                 dispatch = coalesce(?3, dispatch), worktree = coalesce(?8, worktree), branch = coalesce(?9, branch),
                 base = coalesce(?10, base), answered = coalesce(?11, answered), outcome = coalesce(?12, outcome),
                 failure_mode = coalesce(?13, failure_mode), detail = coalesce(?14, detail),
                 cost_nano = max(cost_nano, coalesce(?15, cost_nano)),
                 cost_known = CASE WHEN ?15 > cost_nano THEN ?16
                                   WHEN ?15 = cost_nano THEN max(cost_known, ?16)
                                   ELSE cost_known END,
                 lease_until = coalesce(?17, lease_until)",
            $more,
            " WHERE task = ?1 AND epoch = ?2",
            $rest
        )
    };
}

pub(super) const NOTE: &str = note!("", "");

pub(super) const NOTE_LIVE: &str =
    note!("", " AND ended_at IS NULL AND EXISTS (SELECT 1 FROM task WHERE id = ?1 AND task.epoch = ?2)");

/// What was set aside for an attempt that never began is free again. Of several statements in one go each has to use
/// its parameters without a gap from the first on: others are not bound.
pub(super) const END: &str = concat!(
    "DELETE FROM reservation
     WHERE dispatch IN (?3, (SELECT run.dispatch FROM run WHERE run.task = ?1 AND run.epoch = ?2))
         AND NOT EXISTS (SELECT 1 FROM attempt
                         WHERE attempt.dispatch = reservation.dispatch AND attempt.ordinal = reservation.ordinal);",
    note!(", ended_at = ?18", " AND ended_at IS NULL RETURNING epoch")
);

/// A renewal that comes late takes nothing back.
pub(super) const RENEW: &str = "
    UPDATE run SET progress_at = max(progress_at, ?3), lease_until = max(lease_until, ?4)
    WHERE task = ?1 AND epoch = ?2 AND ended_at IS NULL
        AND EXISTS (SELECT 1 FROM task WHERE id = ?1 AND task.epoch = ?2)";

/// Begins within the caller's transaction. An epoch that was there before, or a task that is held, is a conflict.
pub(super) async fn begin(connection: &mut SqliteConnection, task: &Task, epoch: i64, new: &NewRun) -> Result<()> {
    let begun = query(BEGIN)
        .bind(task.id.as_str())
        .bind(epoch)
        .bind(new.dispatch.map(|dispatch| dispatch.to_string()))
        .bind(&task.spec.repository)
        .bind(&task.batch)
        .bind(task.parent.as_ref().map(TaskId::as_str))
        .bind(&new.model)
        .bind(&new.tier)
        .bind(&new.host)
        .bind(new.at)
        .bind(new.lease_until)
        .bind(new.worker.as_ref().map(|worker| worker.host.as_str()))
        .bind(new.worker.as_ref().map(|worker| worker.pid))
        .bind(new.worker.as_ref().map(|worker| worker.start))
        .execute(connection)
        .await;
    begun.map(drop).map_err(failed("begin the run"))
}

/// Ends the run that holds the task, within the caller's transaction.
pub(super) async fn end(connection: &mut SqliteConnection, task: &Task, at: i64, note: &RunNote) -> Result<()> {
    let ended = noted(END, &task.id, task.epoch, note).bind(at).fetch_optional(connection).await;
    match ended.map_err(failed("end the run"))? {
        Some(_) => Ok(()),
        None => Err(not_held(task)),
    }
}

/// Begins the run that goes on where the ended one was, in the same slots.
pub(super) async fn follow(
    connection: &mut SqliteConnection,
    task: &Task,
    epoch: i64,
    at: i64,
    lease_until: i64,
) -> Result<()> {
    let followed = query(FOLLOW).bind(task.id.as_str()).bind(task.epoch).bind(epoch).bind(at).bind(lease_until);
    followed.execute(connection).await.map(drop).map_err(failed("follow the run"))
}

/// Notes about the run of the task's epoch, ended or not, within the caller's transaction.
pub(super) async fn note_any(connection: &mut SqliteConnection, task: &Task, note: &RunNote) -> Result<()> {
    if *note == RunNote::default() {
        return Ok(());
    }
    let written = noted(NOTE, &task.id, task.epoch, note).execute(connection).await;
    written.map(drop).map_err(failed("note something about the run"))
}

pub(super) async fn note(store: &SqliteStore, id: &TaskId, epoch: i64, note: &RunNote) -> Result<bool> {
    let mut transaction = store.write().await?;
    let written = noted(NOTE_LIVE, id, epoch, note).execute(&mut *transaction).await;
    let written = written.map_err(failed("note something about the run"))?.rows_affected() == 1;
    transaction.commit().await.map_err(failed("note something about the run"))?;
    Ok(written)
}

pub(super) async fn renew(
    store: &SqliteStore,
    id: &TaskId,
    epoch: i64,
    progress_at: i64,
    lease_until: i64,
) -> Result<bool> {
    let mut transaction = store.write().await?;
    let renewed = query(RENEW).bind(id.as_str()).bind(epoch).bind(progress_at).bind(lease_until);
    let renewed = renewed.execute(&mut *transaction).await.map_err(failed("renew the run"))?.rows_affected() == 1;
    transaction.commit().await.map_err(failed("renew the run"))?;
    Ok(renewed)
}

/// The parameters that every note shares.
fn noted<'note>(
    sql: &'static str,
    id: &'note TaskId,
    epoch: i64,
    note: &'note RunNote,
) -> sqlx::query::Query<'note, Sqlite, SqliteArguments> {
    let worker = note.worker.as_ref();
    query(sql)
        .bind(id.as_str())
        .bind(epoch)
        .bind(note.dispatch.map(|dispatch| dispatch.to_string()))
        .bind(worker.map(|worker| worker.host.as_str()))
        .bind(worker.map(|worker| worker.pid))
        .bind(worker.map(|worker| worker.start))
        .bind(note.started_at)
        .bind(&note.worktree)
        .bind(&note.branch)
        .bind(&note.base)
        .bind(&note.answered)
        .bind(&note.outcome)
        .bind(note.failure_mode.map(FailureMode::as_str))
        .bind(&note.detail)
        .bind(note.cost.map(|(cost, _)| cost.0))
        .bind(note.cost.map(|(_, known)| known))
        .bind(note.lease_until)
}

fn not_held(task: &Task) -> StoreError {
    let what = format!("failed to end the run: nothing holds {} in epoch {}", task.id, task.epoch);
    StoreError::new(ErrorKind::Conflict, what)
}
