//! The MCP server: other agents queue work and ask for its state through seven tools.
//!
//! Everything that knows the protocol's library is in here. A call becomes a job in the store; this process only reads,
//! waits and reports, and may be killed at any moment without losing work.

mod answer;
mod arguments;
mod caller;
mod dispatch;
mod fence;
mod field;
pub mod http;
mod list;
mod look;
mod permission;
mod questions;
mod server;
mod start;
pub mod stdio;
mod table;
mod tasks;
mod telling;
pub mod token;
mod tools;
mod wait;
mod yard;

pub use fence::Fence;
pub use tools::Toolset;
pub use yard::Yard;
