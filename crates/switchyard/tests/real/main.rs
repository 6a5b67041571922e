//! The binary with the real OpenCode and the scripted provider. What is shared is one environment with
//! one managed server; tests that change servers or settings make an environment of their own.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

mod agent;
mod agents;
mod agents_asked;
mod availability;
mod bad_input;
mod batch;
mod budget;
mod caps;
mod charges;
mod choosing;
mod claims;
mod client;
mod council;
mod demo;
mod direct;
mod doctor;
mod failures;
mod fakes;
mod fallback;
mod judge;
mod memory;
mod money;
mod pack;
mod pack_asked;
mod pack_guarded;
mod pack_killed;
mod pack_older;
mod pack_permissions;
mod pack_roles;
mod pack_server;
mod pattern_commands;
mod patterns;
mod review;
mod secrets;
mod servers;
mod sessions;
mod spec;
mod structured;
mod tasks;
mod text;
mod trust;
mod yard;

use std::sync::OnceLock;
use switchyard_testkit::TestEnv;

const PROGRAM: &str = env!("CARGO_BIN_EXE_switchyard");
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

/// The environment that tests share.
fn env() -> &'static TestEnv {
    static ENV: OnceLock<TestEnv> = OnceLock::new();
    ENV.get_or_init(|| {
        let env = TestEnv::new("shared", PROGRAM, SCRATCH);
        // One test's failing provider must not keep the others away from it.
        env.write_config(NO_MEMORY);
        env
    })
}

/// Nothing is remembered of failures.
const NO_MEMORY: &str = "\
[availability]
health_ttl = \"none\"
limit_ttl = \"none\"
[fallback.cooldowns]
rate_limit = \"none\"
overloaded = \"none\"
timeout = \"none\"
api_error = \"none\"
auth_error = \"none\"
quota = \"none\"
";

/// An environment of a test's own, with a server of its own.
fn own_env(name: &str) -> TestEnv {
    TestEnv::new(name, PROGRAM, SCRATCH)
}
