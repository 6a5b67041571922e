//! The pure part of the workflow pack: agent files, permissions and specs.

pub mod pack;
pub mod spec;
