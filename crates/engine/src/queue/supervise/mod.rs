//! Queued tasks, supervised: claimed, worked on by processes of their own, judged by evidence, delivered.
//!
//! Invariant: a task is changed only by [`change`], and an attempt only by the holder of the newest claim. Every
//! process here may die at any moment; the next one goes on from what is in the store and in git.

mod add;
mod answer;
mod change;
mod claim;
mod contest;
mod diagnose;
mod effects;
mod fault;
mod forecast;
mod former_name;
mod news;
mod orders;
mod presence;
mod prune;
mod pulse;
mod reaper;
mod reclaim;
mod reviews;
mod run_loop;
mod snapshot;
mod spawn;
mod status;
mod tidy;
mod todo;
mod worker;

pub use add::{AddError, Defaults, NewTaskOrder, add, check_orders};
pub use answer::{AnswerError, answer, open_request};
pub use change::ChangeError;
pub use contest::{cost, entries};
pub use forecast::Conflict;
pub use former_name::{AdoptError, adopt_repositories};
pub use orders::{cancel, reset, retry};
pub use presence::is_supervised;
pub use reclaim::{Released, release};
use worker::{forget_kept, kept_commits};

pub use prune::{Commits, Prunable, prunable, prune};
pub use pulse::{Pulse, pulse, would_start};
pub use run_loop::{SupervisorReport, Watcher, supervise, until_idle};
pub use snapshot::BREAKER_CLEARED;
pub use spawn::{log_dir, log_file, transcript_file};
pub use status::{BatchStatus, Status, TaskStatus, at_work, status, why};
pub use tidy::WORKER_MARK;
pub use todo::{TodoPass, TodoStatus};
pub(crate) use worker::publish_unfinished;
pub use worker::{
    Discard, DiscardError, Leftovers, Verified, VerifyError, WorkError, discard, leftovers, verify, work,
};
