//! The MCP server as its clients meet it: a client that shares no code with the server uses the protocol over pipes and
//! over HTTP.

#![expect(clippy::expect_used, clippy::panic, reason = "a test stops at the first surprise")]

pub mod client;
mod commands;
mod endurance;
mod http;
mod lifecycle;
mod model_set;
mod protocol_tasks;
mod questions;
mod refusals;
mod resumed;
mod tools;
mod web;
mod work;
mod workers;

use crate::own_env;
use shuntyard_testkit::TestEnv;
use std::sync::OnceLock;

/// The environment that tests share.
fn env() -> &'static TestEnv {
    static ENV: OnceLock<TestEnv> = OnceLock::new();
    ENV.get_or_init(|| {
        let env = own_env("mcp-shared");
        // One test's failing provider must not keep the others away from it.
        env.write_config(&format!("jobs.progress_every = \"1s\"\n{NO_MEMORY}"));
        env
    })
}

/// Nothing is remembered of failures.
const NO_MEMORY: &str = "[availability]\nhealth_ttl = \"none\"\n[fallback.cooldowns]\nauth_error = \"none\"\n";
