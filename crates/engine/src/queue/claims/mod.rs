//! Claims in TODO.md: how stores that know nothing of each other keep from doing the same work.
//!
//! Invariant: the `assignee:` on the newest shared TODO.md is the lock. It is taken by a push, and git refuses the
//! second one; a push that was lost is a claim that was lost, and what cannot be read counts as taken. The file is
//! people's: one line of it is changed at a time, and nothing that is checked out is overwritten.

mod fault;
mod hold;
mod identity;
mod issues;
mod line;
mod link;
mod plumbing;
mod record;
mod settle;
mod shared;
mod stale;
mod sync;
mod take;
#[cfg(test)]
mod tests;
mod tip;
mod write;

pub use fault::ClaimFault;
pub use identity::identity;
pub(crate) use issues::{ISSUE_FAILED, failure_mark};
pub use line::{Issues, Line};
pub use link::{claim_added, link};
pub use settle::{Whose, complete, release, unclaim};
pub use stale::{Freed, stale};
pub use sync::{Added, Ended, SyncNote, SyncOptions, SyncReport, sync};
pub use take::{Claim, Taken, claim, take};
pub use write::{Marked, Run};
