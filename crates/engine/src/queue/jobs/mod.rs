//! Queued work that its caller asks after later by its id. A runner, one process for all jobs of a store, executes it;
//! the caller only writes a row, and may die at any moment.

mod attach;
mod begin;
mod bell;
mod cancel;
mod carry_out;
mod check;
mod ensure;
mod fault;
mod list;
mod lost;
mod op;
mod pick;
mod runner;
mod seen_through;
mod show;
mod stamp;
mod start;
mod supervised;
mod tidy;
mod view;
mod wait;
mod workers;

pub use begin::start;
pub use bell::Bell;
pub use cancel::cancel;
pub use fault::JobError;
pub use list::{Listing, View, list, recent_dispatches};
pub use op::{Op, WorkerView, operate, workers, would_be};
pub use runner::{RunnerError, run_jobs};
pub use show::peek;
pub use start::{Start, StartKind, Started};
pub use view::JobView;
pub use wait::{WaitFor, Waited, wait};
