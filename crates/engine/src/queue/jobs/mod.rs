//! Queued work that its caller asks after later by its id. A runner, one process for all jobs of a store, executes it;
//! the caller only writes a row, and may die at any moment.

mod attach;
mod begin;
mod cancel;
mod check;
mod ensure;
mod execute;
mod fault;
mod list;
mod notifier;
mod op;
mod pick;
mod reclaim;
mod runner;
mod show;
mod stamp;
mod start;
mod supervised;
mod task_supervisor;
mod tidy;
mod view;
mod wait;
mod workers;

pub use begin::start;
pub use cancel::cancel;
pub use fault::JobError;
pub use list::{Listing, View, list, recent_dispatches};
pub use notifier::JobNotifier;
pub use op::{Op, WorkerView, operate, workers, would_be};
pub use runner::{RunnerError, run_jobs};
pub use show::peek;
pub use start::{Start, StartKind, Started};
pub use view::JobView;
pub use wait::{WaitFor, Waited, wait};
