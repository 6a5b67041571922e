//! A model provider that speaks the OpenAI wire format and answers from scripts.
//!
//! The demo, the doctor and the tests use it in place of a paid model: every answer, every token count and every
//! failure is chosen beforehand, and the [`Ledger`] records the requests and what they would have cost. Invariant: the
//! same requests and scripts give the same bytes.
//!
//! # Scripts as JSON
//!
//! ```json
//! {
//!   "default": { "text": "nothing was scripted for this" },
//!   "keys": {
//!     "write the parser": [
//!       { "tools": [{ "name": "bash", "arguments": { "command": "ls" } }] },
//!       { "reasoning": "hm", "text": ["do", "ne"], "chunk_delay_ms": 5,
//!         "usage": { "prompt_tokens": 1000, "completion_tokens": 50, "cached_tokens": 200, "reasoning_tokens": 10 } },
//!       { "text": "cut short", "finish": "length", "usage": "none", "delay_ms": 20 },
//!       { "structured": { "score": 4 } },
//!       { "fault": { "kind": "status", "code": 429, "retry_after": 3600, "message": "slow down" } },
//!       { "text": ["one ", "two"], "fault": { "kind": "hang_mid_stream", "after_chunks": 1 } }
//!     ]
//!   },
//!   "models": { "beta": [{ "fault": { "kind": "hang_before_headers" } }] }
//! }
//! ```
//!
//! A key is searched for in the last user message, then in any message, and the longest one wins; a short word may thus
//! be found in a system prompt, so keys should be distinctive. The `models` are asked when no key matches. Steps are
//! used up in order, after which the default answers and the ledger records [`Answer::Unscripted`]. `finish` may be any
//! string, `"none"` leaves it out. The kinds of fault are those of [`Fault`] in snake case. Only in code, a model can
//! also have a function that answers whatever its scripts do not ([`Provider::act`]).

mod actor;
mod arrival;
mod body;
mod build;
mod exchange;
mod gate;
mod ledger;
mod openai;
mod provider;
mod reply;
mod script;
mod server;
mod step;

pub use gate::Gate;
pub use ledger::{Answer, Ending, Entry, Ledger, Total};
pub use openai::Said;
pub use provider::{Provider, TimedOut};
pub use script::{Matched, ScriptFile};
pub use step::{Fault, Finish, RetryAfter, Step, Tokens, ToolCall, UsageReport};
