//! Tasks: what is wanted, its state, and what follows from what happens to it.
//!
//! Invariant: [`step`] is the only way from one state to another. It knows no clock and no machine, so that every
//! rule about work that runs unattended can be tested with a table.

mod announcement;
mod breaker;
pub mod checkout;
mod circles;
mod contest;
mod dependency;
mod event;
mod evidence;
mod failure;
mod fill;
mod id;
mod judge;
mod ladder;
mod load;
mod paths;
mod permission;
mod prompt;
mod schedule;
mod spec;
mod state;
mod step;
#[expect(clippy::module_inception, reason = "the task itself")]
mod task;
#[cfg(test)]
mod tests;

pub use breaker::{Breaker, Ending, breaker};
pub use circles::{Circles, Turn};
pub use contest::{
    BadContest, Contest, Decided, Entry, EntryCheck, EntryWork, Field, Readiness, Verdict, WHOLE, by_judge, by_rule,
    field, group_entries, margin, no_winner, only_one, readiness, share,
};
pub use dependency::{Dependency, Presence, not_in_base};
pub use event::{Asked, Change, Effect, Event, Notice, Redelivery, Resumed, Step};
pub use evidence::{Check, Commit, End, Exit, Findings, Receipt, Secret, Stop, VerifyResult};
pub use failure::{Failure, Lift};
pub use id::{BadTaskId, TaskId};
pub use judge::{Judgement, judge};
pub use ladder::{Next, Tally, next};
pub use load::{Pressure, room};
pub use paths::{covers, not_checked_out, outside};
pub use permission::{Answered, BadAnswer, PermissionReply, PermissionRequest};
pub use prompt::prompt;
pub use schedule::{Candidate, Hold, Limits, Live, Slot, SlotKind, Turnout, order, slots};
pub use spec::{Agent, Gate, Place, TaskSpec, Verification};
pub use state::{Cause, Delivered, Phase, Stage, State, Wait};
pub use step::{Illegal, step};
pub use task::Task;
