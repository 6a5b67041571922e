//! The binary with the fake OpenCode and the scripted provider, or without any of them. What is shared is one
//! environment with one managed server; tests that change servers or settings make an environment of their own.
//!
//! Some of these files are also part of `conformance`, which runs them with the real OpenCode.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod agent;
mod agents;
mod agents_asked;
mod agents_described;
mod availability;
mod bad_input;
mod batch;
mod budget;
mod caps;
mod charges;
mod choosing;
mod claims;
mod classification;
mod client;
mod completions;
mod configuring;
mod council;
mod demo;
mod demo_whole;
mod direct;
mod doctor;
mod dry_runs;
mod failures;
mod fakes;
mod fallback;
mod findings;
mod former_name;
mod judge;
mod kills;
mod mcp;
mod money;
mod outcomes;
mod overview;
mod pack;
mod pack_asked;
mod pack_guarded;
mod pack_killed;
mod pack_older;
mod pack_roles;
mod pattern_commands;
mod patterns;
mod queue;
mod references;
mod review;
mod secrets;
mod servers;
mod service;
mod sessions;
mod shared;
mod spec;
mod structured;
mod supervise;
mod tasks;
mod text;
mod todo;
mod trust;
mod unknown_costs;
mod unknown_costs_limits;
mod yard;

use shared::{NO_MEMORY, env};
use shuntyard_testkit::TestEnv;

const PROGRAM: &str = env!("CARGO_BIN_EXE_shuntyard");

/// An environment of a test's own, with a server of its own.
fn own_env(name: &str) -> TestEnv {
    TestEnv::new(name, PROGRAM)
}
