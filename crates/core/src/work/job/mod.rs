//! Jobs: what a model or a person has handed over to other models, to be asked after later by its id. And the workers
//! that execute some of them, one after the other.
//!
//! A job is not a supervised task: it has no worktree and no evidence. It is one conversation, or several in a row.

mod auto;
mod id;
mod order;
mod recap;
mod reuse;
mod workflow;

pub use auto::{Picked, pick_profile};
pub use id::{BadJobId, JobId};
pub use order::{Choice, JobKind, JobOrder, JobState, Pause, TierPart};
pub use recap::{Exchange, recap};
pub use reuse::{Found, Mismatch, Standing, Wanted, reusable};
pub use workflow::{Advance, Carry, StepDone, advance, carry};
