//! What this store remembers of a claim: the instant in its `started:`. Two stores may go by the same name, or a person
//! may have written that name by hand; the instant shows which claims are this store's.
//!
//! Invariant: it is written down before the claim is shared, so a claim that was shared is always recognised again.

use super::{ClaimFault, line::Line};
use crate::{Context, base::hash::short_hash};
use jiff::Timestamp;
use shuntyard_core::todo::{Field, Moment, TaskLine};
use shuntyard_host::clock::now_micros;

/// A claim that was begun so recently is taken up with the same instant: its push may still arrive. In microseconds.
const STILL_ON_ITS_WAY: i64 = 600_000_000;
/// No claim; the store keeps marks for ever.
const NONE: i64 = 0;

#[derive(Debug, Clone)]
pub(super) struct Record {
    mark: String,
    /// What the store has for the line.
    held: Option<i64>,
}

impl Record {
    pub(super) async fn read(context: &Context, line: &Line) -> Result<Self, ClaimFault> {
        let mark = format!("claim.{}.{}", short_hash(&line.repository.display().to_string()), line.todo);
        let held = context.store.mark(&mark).await?.filter(|at| *at != NONE);
        Ok(Self { mark, held })
    }

    /// Whether the claim in the line is this store's.
    pub(super) fn is_ours(&self, line: &TaskLine) -> bool {
        let mut starts = line.values(Field::Started);
        let (Some(start), None) = (starts.next(), starts.next()) else { return false };
        self.held.is_some_and(|held| Moment::parse(start) == Some(Moment::Exact(held)))
    }

    /// The instant for a claim that is made now.
    pub(super) fn begin(&mut self) -> i64 {
        let now = now_micros();
        let at = self.held.filter(|held| (0..STILL_ON_ITS_WAY).contains(&now.saturating_sub(*held))).unwrap_or(now);
        self.held = Some(at);
        at
    }

    /// Writes down what was begun.
    pub(super) async fn keep(&self, context: &Context) -> Result<(), ClaimFault> {
        Ok(context.store.set_mark(&self.mark, self.held.unwrap_or(NONE)).await?)
    }

    pub(super) async fn forget(&self, context: &Context) -> Result<(), ClaimFault> {
        Ok(context.store.set_mark(&self.mark, NONE).await?)
    }
}

/// An instant as a line has it.
pub(super) fn written(at: i64) -> String {
    Timestamp::from_microsecond(at).unwrap_or_default().to_string()
}

/// The day of an instant as a line has it; days are those of UTC there.
pub(super) fn day(at: i64) -> String {
    written(at).chars().take(10).collect()
}
