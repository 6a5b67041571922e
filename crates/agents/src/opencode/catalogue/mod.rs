//! The models that OpenCode offers, reduced to what a decision needs: as a running server lists them, or
//! from OpenCode's own files when none runs.
//!
//! Keys are noted as present and never kept; only an access holds one, for the request that it is made for.

mod files;
mod lenient;
mod listed;
mod secrets;
mod server;
#[cfg(test)]
mod tests;

pub use files::{
    Access, FromFiles, NoAccess, Places, access, accesses, credential_stamp, foreign_providers, from_files,
};
pub use secrets::{secret_values, without_secrets};
pub(super) use server::{AllProviders, ConfiguredModels, ConfiguredProviders, connected, full};
