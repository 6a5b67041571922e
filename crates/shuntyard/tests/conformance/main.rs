//! The binary with the real OpenCode and the scripted provider.
//!
//! The files of `it` that are listed here run with the fake OpenCode there and with the real one here, which keeps the
//! fake faithful: what they show of OpenCode must be the same of both. The other files need what only the real one has.

#![expect(clippy::expect_used, reason = "a test stops at the first surprise")]

#[path = "../it/agent.rs"]
mod agent;
#[path = "../it/agents_described.rs"]
#[expect(dead_code, reason = "`it` uses more of it")]
mod agents_described;
mod agents_plugin;
#[path = "../it/caps.rs"]
mod caps;
#[path = "../it/client.rs"]
mod client;
mod contest;
#[path = "../it/demo_whole.rs"]
mod demo_whole;
mod doctor_whole;
#[path = "../it/failures.rs"]
mod failures;
#[path = "../it/findings.rs"]
mod findings;
#[path = "../it/kills.rs"]
mod kills;
mod mcp;
mod mcp_client;
mod memory;
#[path = "../it/money.rs"]
mod money;
#[path = "../it/outcomes.rs"]
mod outcomes;
mod pack_loaded;
mod pack_permissions;
#[path = "../it/pack_roles.rs"]
mod pack_roles;
mod pack_server;
mod parked;
#[path = "../it/secrets.rs"]
mod secrets;
#[path = "../it/sessions.rs"]
mod sessions;
#[path = "../it/shared.rs"]
mod shared;
mod slash_commands;
#[path = "../it/structured.rs"]
mod structured;
#[path = "../it/text.rs"]
mod text;
mod todo_to_merge;
#[path = "../it/unknown_costs.rs"]
mod unknown_costs;
mod workspaces;
#[path = "../it/yard.rs"]
#[expect(dead_code, reason = "`it` uses more of it")]
mod yard;

use shared::{NO_MEMORY, env};
use shuntyard_testkit::TestEnv;

const PROGRAM: &str = env!("CARGO_BIN_EXE_shuntyard");

/// An environment of a test's own, with a server of its own.
fn own_env(name: &str) -> TestEnv {
    TestEnv::real(name, PROGRAM, env!("CARGO_TARGET_TMPDIR"))
}
