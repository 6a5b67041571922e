//! The models that this user has: from a server when one can be asked, from our own copy or OpenCode's files when not.

mod current;
mod shelf;

pub(crate) use current::current_on;
pub use current::{Refresh, at_hand, current};
pub use shelf::{Extent, Listed, Origin};

pub(crate) use shelf::Shelf;

use crate::{Context, base::opencode_files::places};
use shuntyard_agents::opencode::{
    ApiError, Client,
    catalogue::{foreign_providers, secret_values, without_secrets},
};
use shuntyard_core::routing::Catalogue;
use std::{collections::BTreeSet, path::Path};

/// The server's list, when it is recent.
pub(crate) fn from_server_before(context: &Context, shelf: &Shelf) -> Option<Catalogue> {
    let listed = shelf.connected(context.config.catalogue.max_age.0)?;
    (listed.origin == Origin::Server).then_some(listed.catalogue)
}

/// What the server says now, kept for later unless it may have read an older configuration.
pub(crate) async fn ask(
    context: &Context,
    client: &Client,
    shelf: &Shelf,
    settings: Settings,
) -> Result<Catalogue, ApiError> {
    let listed = Listed::now(Origin::Server, clean(context, client.catalogue().await?), Vec::new());
    if settings == Settings::Current {
        shelf.put(&listed, Extent::Connected);
    }
    Ok(listed.catalogue)
}

/// Whether the server has read the directory's settings as they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settings {
    Current,
    Older,
}

impl Settings {
    /// From the warning that a check of the instance gave.
    pub(crate) fn after(warning: Option<&String>) -> Self {
        if warning.is_some() { Self::Older } else { Self::Current }
    }
}

/// The list without names that a configuration made of a secret.
fn clean(context: &Context, catalogue: Catalogue) -> Catalogue {
    without_secrets(catalogue, &secret_values(&context.environment))
}

/// Providers whose prompts go where the directory's own settings say, not where the user's do.
pub(crate) fn foreign(context: &Context, directory: &Path, stamps: &str) -> BTreeSet<String> {
    if stamps.is_empty() { BTreeSet::new() } else { foreign_providers(&places(context, directory)) }
}

pub(crate) fn foreign_warning(provider: &str) -> String {
    format!(
        "where prompts for {provider} go, or what they cost, is said by this directory's OpenCode settings, not by yours"
    )
}
