//! Many models at once: what follows from several answers to one question.
//!
//! Everything that a model wrote is hostile here: it is capped, cleaned and fenced, its labels are checked, and what
//! does not fit is a fault with its place. Who did not answer is unknown, and never counted for either side.

pub mod anonymous;
pub mod consensus;
pub mod council;
pub mod escalation;
mod fault;
mod fence;
pub mod judge;
mod label;
mod mask;
mod reading;
pub mod review_loop;
mod seeded;
mod trim;

pub use anonymous::{Anonymous, AnonymousError, Pass, Sheet};
pub use fault::Fault;
pub use fence::{Fenced, Part, fence};
pub use label::Label;
pub use mask::{Mask, Masked, Names};
pub use trim::fair_shares;
