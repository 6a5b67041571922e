//! Task artifacts on disk: makes the directory of a new task, finds and checks specs, and says how far tasks are.
//!
//! Invariant: everything is found by listing directories and opening paths, and nothing is read or written outside the
//! repository, wherever links in it lead.

mod check;
mod load;
mod new;
mod place;
mod read;
pub mod run;
mod status;
mod stored;
mod template;
mod testing;
#[cfg(test)]
mod tests;

pub use check::{Checked, FoundFault, check};
pub use load::{Artifact, Loaded, MOST_BYTES};
pub use new::{Created, NewError, NewTask, Run, create};
pub use place::{Place, PlaceError};
pub use read::{Listing, ReadError, Target, TaskDirectory, UnitDirectory, find, list, units};
pub use status::{Overview, StoredTask, TaskStatus, UnitStatus, status};
pub use stored::with_stored;
pub use testing::{TestCommands, TestSource, Tested, run_test, testing};

pub const SPEC_FILE: &str = "task-spec.md";
pub const HANDOFF_FILE: &str = "handoff.md";
