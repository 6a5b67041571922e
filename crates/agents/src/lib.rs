//! Agents: what turns a request into a stream of events and a judged outcome.

pub mod openai;
pub mod opencode;
mod provider_error;
mod web;
