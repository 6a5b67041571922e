//! Agents: what turns a request into a stream of events and a judged outcome.

mod error_as_answer;
pub mod openai;
pub mod opencode;
mod provider_error;
mod web;
pub mod webhook;
