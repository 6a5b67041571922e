//! What follows from a new state outside of the store: notices, marks, and what is to be tidied.

use super::{Cause, Delivered, Effect, Notice, Phase, Place, State, Task, Wait};
use crate::values::{Diagnose, Rules};

/// A rest that is at least this long is worth a message: half an hour, in microseconds.
const LONG: i64 = 1_800_000_000;

/// Who has to be notified.
pub(super) fn announced(task: &Task, after: &State, rules: &Rules, now: i64) -> Vec<Effect> {
    let before = task.state.phase();
    let notice = match after {
        State::Done { .. } => Notice::Done,
        State::Failed { .. } => Notice::Failed,
        State::Blocked { .. } => Notice::Blocked,
        State::Cancelled { .. } => Notice::Cancelled,
        State::Review { .. } if !matches!(task.state, State::Review { .. }) => Notice::Review,
        State::Asking { answer: None, .. } => Notice::Permission,
        State::Waiting { until, wait: Wait::Limit | Wait::Budget, .. } if until.saturating_sub(now) >= LONG => {
            Notice::Parked
        }
        State::Queued
        | State::Waiting { .. }
        | State::Starting { .. }
        | State::Running
        | State::Asking { .. }
        | State::Evaluating
        | State::Delivering { .. }
        | State::Review { .. }
        | State::Stopping { .. } => return Vec::new(),
    };
    let is_entry = task.spec.entry_of.is_some();
    // The contest announces its end once. A permission has to be answered for every agent.
    let is_told = !is_entry || notice == Notice::Permission;
    let mut effects = Vec::from_iter(is_told.then(|| Effect::Notify { notice, detail: after.reason() }));
    if is_entry && after.phase().is_settled() {
        effects.push(Effect::WakeContest);
    }
    if task.spec.contest.is_some() && after.phase() == Phase::Cancelled {
        effects.push(Effect::CancelEntries);
    }
    if task.spec.todo.is_some() && before != after.phase() && after.phase() != Phase::Waiting {
        effects.push(Effect::Mark { done: after.phase() == Phase::Done });
    }
    // What looks into another task is not looked into itself.
    let for_good = matches!(after, State::Blocked { cause: Cause::Exhausted | Cause::Parked, .. });
    if for_good && rules.diagnose == Diagnose::Once && task.spec.diagnoses.is_none() && !is_entry {
        effects.push(Effect::Diagnose);
    }
    if let State::Done { delivered: Delivered::PullRequest { .. } } = after {
        effects.push(Effect::RebaseSiblings);
    }
    if task.epoch > 0 && task.spec.place == Place::Worktree && after.phase().releases() {
        effects.push(Effect::Tidy);
    }
    effects
}
