//! `shuntyard service` with schedulers of the test's own: programs that record how they were called and keep their
//! input in files. The machine's own ones are out of reach, because the search path has nothing else in it.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod cron;
mod launchd;
mod refusals;
pub mod station;
mod systemd;
