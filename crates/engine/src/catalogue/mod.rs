//! The models that this user has: from a server when one can be asked, from our own copy or OpenCode's files when not.

mod current;
mod shelf;

pub(crate) use current::current_on;
pub use current::{Extent, Refresh, current};
pub use shelf::{Listed, Origin};

pub(crate) use shelf::Shelf;

use crate::Context;
use switchyard_agents::opencode::{ApiError, Client};
use switchyard_core::route::Catalogue;

/// What a server said not long ago.
pub(crate) fn from_server_before(context: &Context, shelf: &Shelf) -> Option<Catalogue> {
    let listed = shelf.connected(context.config.catalogue.max_age.0)?;
    (listed.origin == Origin::Server).then_some(listed.catalogue)
}

/// What the server says now, kept for later.
pub(crate) async fn ask(client: &Client, shelf: &Shelf) -> Result<Catalogue, ApiError> {
    let listed = Listed::now(Origin::Server, client.catalogue().await?, Vec::new());
    shelf.put(&listed, Extent::Connected);
    Ok(listed.catalogue)
}
