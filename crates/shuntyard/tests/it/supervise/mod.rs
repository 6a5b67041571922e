//! The supervisor from outside: the binary, real git, real processes, and OpenCode, as a rule the fake one, with
//! a scripted provider.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod agents;
mod cancel;
mod checkout;
mod contest;
mod contest_kills;
mod crashes;
mod delivery;
mod discard;
mod filters;
mod forecast;
mod full_disk;
mod git_calls;
mod git_states;
mod grace;
mod hostile;
mod hub;
mod invariants;
mod issues;
mod linked;
mod mixed;
mod new_base;
mod notices;
mod other_repository;
mod permissions;
mod pull_request_merges;
mod pull_request_states;
mod pull_requests;
mod reports;
mod setups;
mod spec_run;
mod unfinished;
mod unknown_costs;
pub mod yard;

pub use yard::Yard;
