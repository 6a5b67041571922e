//! TODO.md: the task lines in it, what may be done with them, and edits that change one line of it.
//!
//! The file belongs to people. What is not understood is kept, byte for byte; an edit touches the field that it is
//! about and nothing else; and where the file is ambiguous, the answer is a refusal that names the lines.

mod amount;
mod blockers;
mod checkbox;
mod claim;
mod complete;
mod cycles;
mod document;
mod edit;
mod field;
mod hidden;
mod id;
mod moment;
mod outline;
mod pickup;
mod reconcile;
mod rhythm;
mod stale;
mod task_line;
mod words;

use crate::work::task::TaskId;

pub use amount::{Estimate, amount};
pub use blockers::{Blocker, BlockerState, Blocking, blockers};
pub use checkbox::Checkbox;
pub use claim::{ClaimError, Force, claim, unclaim};
pub use complete::{CompleteError, Evidence, OpenChild, complete};
pub use cycles::cycles;
pub use document::{Document, Duplicate};
pub use edit::{EditError, Edited};
pub use field::Field;
pub use moment::Moment;
pub use pickup::{Obstacle, Pick, PickReason, Pickup, Skipped, pickable};
pub use reconcile::{Difference, StoredPhase, StoredTask, reconcile};
pub use rhythm::Looks;
pub use stale::{Kept, Presence, STALE_AFTER_MICROS, StaleVerdict, Traces, is_stale_claim};
pub use task_line::{FieldValue, TaskLine};

#[cfg(test)]
mod tests;
