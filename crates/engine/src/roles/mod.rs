//! Clients of the queue: the workflow pack, specs, and the configuration of agents.

pub mod agents_config;
pub mod pack;
pub mod spec;
pub mod user_config;
