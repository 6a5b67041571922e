//! Claims that were left behind. Only one's own may be freed, and only when nothing of the work is left: what cannot
//! be read or seen counts as work.

use super::{Checkbox, Field, Moment, TaskLine, claim::claimed_by_another};

pub const STALE_AFTER_MICROS: i64 = 24 * 3600 * 1_000_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    There,
    Gone,
    /// It could not be found out.
    Unknown,
}

/// What the machine still has of the work on a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Traces {
    pub worker: Presence,
    pub worktree: Presence,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StaleVerdict {
    /// It may be freed.
    Stale {
        age_micros: i64,
    },
    Kept(Kept),
}

/// Why a claim stays.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kept {
    NotClaimed,
    /// A finished task keeps the name of who did it.
    NotOpen(Checkbox),
    Anothers {
        by: String,
    },
    /// There is no `started:`, or more than one, or it is no date.
    UnreadableStart,
    Recent {
        age_micros: i64,
    },
    Worker(Presence),
    Worktree(Presence),
}

#[must_use]
pub fn is_stale_claim(task: &TaskLine, who: &str, now_micros: i64, traces: Traces) -> StaleVerdict {
    match reason_to_keep(task, who, now_micros, traces) {
        Ok(age_micros) => StaleVerdict::Stale { age_micros },
        Err(kept) => StaleVerdict::Kept(kept),
    }
}

fn reason_to_keep(task: &TaskLine, who: &str, now_micros: i64, traces: Traces) -> Result<i64, Kept> {
    if task.value(Field::Assignee).is_none() {
        return Err(Kept::NotClaimed);
    }
    if let Some(by) = claimed_by_another(task, who) {
        return Err(Kept::Anothers { by: by.to_owned() });
    }
    if task.checkbox != Checkbox::Open {
        return Err(Kept::NotOpen(task.checkbox));
    }
    let mut starts = task.values(Field::Started);
    let (Some(start), None) = (starts.next(), starts.next()) else { return Err(Kept::UnreadableStart) };
    let started = Moment::parse(start).ok_or(Kept::UnreadableStart)?;
    let age_micros = now_micros.saturating_sub(started.latest());
    if age_micros <= STALE_AFTER_MICROS {
        return Err(Kept::Recent { age_micros });
    }
    gone(traces.worker).map_err(Kept::Worker)?;
    gone(traces.worktree).map_err(Kept::Worktree)?;
    Ok(age_micros)
}

fn gone(presence: Presence) -> Result<(), Presence> {
    match presence {
        Presence::Gone => Ok(()),
        Presence::There | Presence::Unknown => Err(presence),
    }
}
