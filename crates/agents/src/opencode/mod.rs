//! The client for OpenCode's server.
//!
//! Nothing that the server claims about success is believed: an outcome is judged by the messages that
//! are read back, the money by the session tree, and every wait has its own deadline.

mod approve;
mod ask;
mod broken;
pub mod catalogue;
pub mod classify;
mod client;
mod events;
mod give_up;
mod http;
mod judge;
pub mod launch;
pub mod locate;
mod look;
mod probe_agent;
mod run;
mod stop;
mod tree;
mod types;
mod watch;

pub use approve::{Approver, Decision, Question};
pub use client::{Agent, Client, Health, NewSession, PromptBody};
pub use events::{EventHub, HubEvent};
pub use give_up::{GiveUp, PermissionPolicy, Timer};
pub use http::{ApiError, Endpoint};
pub use judge::{Answer, Expect, Failure, Verdict, judge};
pub use probe_agent::{AgentDetails, AgentMode, Approach, Said};
pub use run::{Progress, PromptReport, RunLimits, RunPrompt, Shape, Sink, StepLimit, run_prompt};
pub use stop::{StopOutcome, stop_sessions};
pub use tree::{TreeUsage, read_steps, read_tree};
pub use types::{MessageWithParts, PermissionRule, RunStatus, ServerEvent, Session};

/// The OpenCode release that this client was written and tested against.
pub const TESTED_VERSION: &str = "1.18.33";
