//! Agents: what turns a request into a stream of events and a judged outcome.

pub mod opencode;
