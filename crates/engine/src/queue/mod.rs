//! Work that is stored before it is done: tasks, jobs, their claims and what follows from their ends.

pub mod changes;
pub mod claims;
pub mod jobs;
pub mod supervise;
