//! The MCP server as its clients meet it: a client that shares no code with the server speaks the protocol over pipes
//! and over HTTP.

#![expect(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

mod client;
mod commands;
mod endurance;
mod http;
mod lifecycle;
mod opencode;
mod protocol_tasks;
mod refusals;
mod tools;
mod web;
mod work;
mod workers;

use std::sync::OnceLock;
use switchyard_testkit::TestEnv;

const PROGRAM: &str = env!("CARGO_BIN_EXE_switchyard");
const SCRATCH: &str = env!("CARGO_TARGET_TMPDIR");

/// The environment that tests share.
fn env() -> &'static TestEnv {
    static ENV: OnceLock<TestEnv> = OnceLock::new();
    ENV.get_or_init(|| {
        let env = own_env("mcp-shared");
        // One test's failing provider must not keep the others away from it.
        env.write_config(NO_MEMORY);
        env
    })
}

/// Nothing is remembered of failures.
const NO_MEMORY: &str = "[availability]\nhealth_ttl = \"none\"\n[fallback.cooldowns]\nauth_error = \"none\"\n";

/// An environment of a test's own.
fn own_env(name: &str) -> TestEnv {
    TestEnv::new(name, PROGRAM, SCRATCH)
}
