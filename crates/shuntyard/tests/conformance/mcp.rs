//! Workers that resume their conversations, which the real OpenCode keeps in a database of its own.

#![expect(clippy::panic, reason = "a test stops at the first surprise")]

#[path = "../it/mcp/client.rs"]
#[expect(dead_code, reason = "`it` uses more of it")]
pub mod client;
#[path = "../it/mcp/resumed.rs"]
mod resumed;

use crate::own_env;
