//! Runs: claims of tasks, from the claim to the end. What holds a run is the epoch: as soon as the task has another
//! one, or the run has ended, the process that worked under it can write nothing more.

use super::{SqliteStore, script::Script};
use crate::{ErrorKind, NewRun, Result, RunNote, StoreError};
use shuntyard_core::{
    experience::FailureMode,
    work::task::{Task, TaskId},
};

const BEGIN: &str = "
    INSERT INTO run (task, epoch, dispatch, repository, batch, parent, model, tier, host, claimed_at, progress_at,
                     lease_until, worker_host, worker_pid, worker_start)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)";

/// The next one has what the last had, except its money, its worker and what came of it.
const FOLLOW: &str = "
    INSERT INTO run (task, epoch, repository, batch, parent, model, tier, host, claimed_at, progress_at, lease_until,
                     worktree, branch, base)
    SELECT task, ?, repository, batch, parent, model, tier, host, ?, ?, ?, worktree, branch, base
    FROM run WHERE task = ? AND epoch = ?";

/// What is not noted stays. Of two costs the higher counts, with whether it is all of it.
macro_rules! note {
    ($more:literal, $rest:literal) => {
        concat!(
            "UPDATE run SET
                 worker_host = coalesce(?, worker_host), worker_pid = coalesce(?, worker_pid),
                 worker_start = coalesce(?, worker_start), started_at = coalesce(?, started_at),
                 dispatch = coalesce(?, dispatch), worktree = coalesce(?, worktree), branch = coalesce(?, branch),
                 base = coalesce(?, base), answered = coalesce(?, answered), outcome = coalesce(?, outcome),
                 failure_mode = coalesce(?, failure_mode), detail = coalesce(?, detail),
                 cost_nano = max(cost_nano, coalesce(?, cost_nano)),
                 cost_known = CASE WHEN ? > cost_nano THEN ?
                                   WHEN ? = cost_nano THEN max(cost_known, ?)
                                   ELSE cost_known END,
                 lease_until = coalesce(?, lease_until)",
            $more,
            " WHERE task = ? AND epoch = ?",
            $rest
        )
    };
}

pub(super) const NOTE: &str = note!("", "");

const NOTE_LIVE: &str = note!(
    "",
    " AND ended_at IS NULL AND EXISTS (SELECT 1 FROM task WHERE task.id = run.task AND task.epoch = run.epoch)
      RETURNING epoch"
);

/// What was set aside for an attempt that never began is free again.
const FREE: &str = "
    DELETE FROM reservation
    WHERE dispatch IN (?, (SELECT run.dispatch FROM run WHERE run.task = ? AND run.epoch = ?))
        AND NOT EXISTS (SELECT 1 FROM attempt
                        WHERE attempt.dispatch = reservation.dispatch AND attempt.ordinal = reservation.ordinal)";

const END: &str = note!(", ended_at = ?", " AND ended_at IS NULL");

/// Whether the newest run of a task holds it.
const HELD: &str = "
    SELECT EXISTS (SELECT 1 FROM task JOIN run ON run.task = task.id AND run.epoch = task.epoch
                   WHERE task.id = ? AND run.ended_at IS NULL) AS held";

/// A late renewal never shortens a lease.
pub(super) const RENEW: &str = "
    UPDATE run SET progress_at = max(progress_at, ?), lease_until = max(lease_until, ?)
    WHERE task = ? AND epoch = ? AND ended_at IS NULL
        AND EXISTS (SELECT 1 FROM task WHERE task.id = run.task AND task.epoch = run.epoch)
    RETURNING epoch";

/// Begins, as a part of the caller's script. An epoch that was there before, or a task that is held, is a conflict.
pub(super) fn begin(script: &mut Script, task: &Task, epoch: i64, new: &NewRun) {
    script
        .add(BEGIN)
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
        .bind(new.at)
        .bind(new.lease_until)
        .bind(new.worker.as_ref().map(|worker| worker.host.as_str()))
        .bind(new.worker.as_ref().map(|worker| worker.pid))
        .bind(new.worker.as_ref().map(|worker| worker.start));
}

/// Asks whether there is a run that could be ended. The answer is one row.
pub(super) fn ask_held(look: &mut Script, id: &TaskId) {
    look.add(HELD).bind(id.as_str());
}

/// Ends the run that holds the task, as a part of the caller's script.
pub(super) fn end(script: &mut Script, task: &Task, at: i64, note: &RunNote) {
    let dispatch = note.dispatch.map(|dispatch| dispatch.to_string());
    script.add(FREE).bind(dispatch).bind(task.id.as_str()).bind(task.epoch);
    noted(script, END, note);
    script.bind(at).bind(task.id.as_str()).bind(task.epoch);
}

/// Begins the run that goes on where the ended one was, in the same slots.
pub(super) fn follow(script: &mut Script, task: &Task, epoch: i64, at: i64, lease_until: i64) {
    script.add(FOLLOW).bind(epoch).bind(at).bind(at).bind(lease_until).bind(task.id.as_str()).bind(task.epoch);
}

/// Notes about the run of this epoch, ended or not, as a part of the caller's script.
pub(super) fn note_any(script: &mut Script, id: &TaskId, epoch: i64, note: &RunNote) {
    if *note != RunNote::default() {
        noted(script, NOTE, note);
        script.bind(id.as_str()).bind(epoch);
    }
}

pub(super) async fn note(store: &SqliteStore, id: &TaskId, epoch: i64, note: &RunNote) -> Result<bool> {
    let mut script = Script::default();
    noted(&mut script, NOTE_LIVE, note);
    script.bind(id.as_str()).bind(epoch);
    Ok(!script.commit_and_tell(store, "note something about the run").await?.is_empty())
}

pub(super) async fn renew(
    store: &SqliteStore,
    id: &TaskId,
    epoch: i64,
    progress_at: i64,
    lease_until: i64,
) -> Result<bool> {
    let mut script = Script::default();
    script.add(RENEW).bind(progress_at).bind(lease_until).bind(id.as_str()).bind(epoch);
    Ok(!script.commit_and_tell(store, "renew the run").await?.is_empty())
}

/// The parameters that every note begins with.
fn noted(script: &mut Script, sql: &'static str, note: &RunNote) {
    let worker = note.worker.as_ref();
    let (cost, known) = (note.cost.map(|(cost, _)| cost.0), note.cost.map(|(_, known)| known));
    script
        .add(sql)
        .bind(worker.map(|worker| worker.host.as_str()))
        .bind(worker.map(|worker| worker.pid))
        .bind(worker.map(|worker| worker.start))
        .bind(note.started_at)
        .bind(note.dispatch.map(|dispatch| dispatch.to_string()))
        .bind(&note.worktree)
        .bind(&note.branch)
        .bind(&note.base)
        .bind(&note.answered)
        .bind(&note.outcome)
        .bind(note.failure_mode.map(FailureMode::as_str))
        .bind(&note.detail)
        .bind(cost)
        .bind(cost)
        .bind(known)
        .bind(cost)
        .bind(known)
        .bind(note.lease_until);
}

pub(super) fn not_held(task: &Task) -> StoreError {
    let what = format!("failed to end the run: nothing holds {} in epoch {}", task.id, task.epoch);
    StoreError::new(ErrorKind::Conflict, what)
}
