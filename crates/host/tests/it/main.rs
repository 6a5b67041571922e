//! Git, processes and file watches with the real system. The guard's tests are an executable of their own: it has to
//! be a program that can be started as a guard.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test stops at the first surprise")]

mod git;
mod processes;
mod watch;
