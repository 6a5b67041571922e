//! Work that is queued: tasks, jobs, their pull requests, and what of it is shown.

pub mod job;
pub mod overview;
pub mod pull_request;
pub mod task;
