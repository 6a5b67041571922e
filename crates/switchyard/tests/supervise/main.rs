//! The supervisor from outside: the binary, real git, real processes, and the real OpenCode with a scripted provider.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod agents;
mod crashes;
mod crew;
mod hostile;
mod limits;
mod mixed;
mod spec_run;
mod yard;

pub use yard::Yard;
