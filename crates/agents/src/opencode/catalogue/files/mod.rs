//! The catalogue without a server, from the files and variables that OpenCode itself would read.
//!
//! It follows OpenCode's own order of sources, so that a provider counts as connected here when a server
//! started with the same files would connect it. What only a server can know is left out: what plugins
//! add, and the catalogue that is built into OpenCode.

mod access;
mod build;
mod credential;
mod described;
mod draft;
mod foreign;
mod layers;
mod logins;
mod models_cache;
mod places;
mod settings;
mod substitute;
#[cfg(test)]
mod tests;
mod wire;

pub use access::{Access, NoAccess, access, accesses};
pub use credential::credential_stamp;
pub use foreign::foreign_providers;
pub use places::Places;

use super::secrets::{masked, secret_values, without_secrets};
use shuntyard_core::routing::Catalogue;

/// What the files contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FromFiles {
    pub catalogue: Catalogue,
    /// Whether a server would know no provider of this user that is missing here.
    pub complete: bool,
    /// Files that could not be used: where and why, without their content.
    pub problems: Vec<String>,
}

/// Reads OpenCode's files. Never fails: what cannot be read is skipped and named in `problems`.
#[must_use]
pub fn from_files(places: &Places) -> FromFiles {
    let mut problems = Vec::new();
    let settings = settings::read(places, &mut problems);
    let logins = logins::read(places, &mut problems);
    let cache = models_cache::read(places, &mut problems);
    let sources = build::Sources { places, settings, logins, cache };
    // A secret can also be the value of a variable that does not look like one.
    let secrets = secret_values(&places.variables);
    FromFiles {
        complete: sources.is_complete(),
        catalogue: without_secrets(sources.catalogue(), &secrets),
        problems: problems.into_iter().map(|problem| masked(problem, &secrets)).collect(),
    }
}
