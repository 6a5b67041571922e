//! The direct backend: asks an OpenAI-compatible provider itself, for prompts that need no agent.
//!
//! One wire shape, chat completions as a stream. As with OpenCode, nothing that a provider claims about success
//! is believed: an outcome is judged by what was received, every wait has its own deadline, and what is kept of an
//! answer is bounded. A key is in no error, no debug output and no trace.

mod adapt;
mod again;
mod answered;
mod ask;
mod body;
mod clock;
mod complaint;
mod decimal;
mod direct;
mod exchange;
mod frames;
mod heard;
mod judge;
mod listen;
mod provider;
mod retry_after;
mod structure;
mod tally;
mod wire;

pub use adapt::StructureForm;
pub use answered::Answered;
pub use ask::{Ask, Earlier, Limits};
pub use direct::{Direct, NoClient};
pub use provider::{BadProvider, Provider};
