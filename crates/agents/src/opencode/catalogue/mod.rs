//! The models that OpenCode offers, reduced to what a decision needs: as a running server tells them, or
//! from OpenCode's own files when none runs.
//!
//! Keys are noted as present and never kept.

mod files;
mod lenient;
mod listed;
mod server;
#[cfg(test)]
mod tests;

pub use files::{FromFiles, Places, from_files};
pub(super) use server::{AllProviders, ConfiguredModels, ConfiguredProviders, connected, full};
