//! The supervisor from outside: the binary, real git, real processes, and the real OpenCode with a scripted provider.

mod agents;
mod crashes;
mod limits;
mod yard;

pub use yard::Yard;
