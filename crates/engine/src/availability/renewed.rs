//! A refused key stands against its provider for an hour, but not when the user has just renewed it: what was found
//! out about keys holds only for the keys, logins and settings that it was found out with.

use super::Known;
use crate::{Context, catalogue::Shelf};
use switchyard_core::route::{HealthStatus, Trigger};
use switchyard_host::{
    clock::now_micros,
    paths::{private_dir, write_private},
};
use switchyard_store::Result;

/// Forgets findings about keys when the surroundings are others than at the last look. Tells whether it did.
pub(super) async fn forget_old_keys(context: &Context, shelf: &Shelf, known: &Known) -> Result<bool> {
    let about_keys = |status| matches!(status, HealthStatus::KeyInvalid | HealthStatus::KeyMissing);
    let providers: Vec<&str> =
        known.health.iter().filter(|row| about_keys(row.status)).map(|row| row.provider.as_str()).collect();
    let targets: Vec<&str> =
        known.cooldowns.iter().filter(|row| row.trigger == Trigger::AuthError).map(|row| row.target.as_str()).collect();
    let is_new = note_surroundings(context, shelf);
    if !is_new || (providers.is_empty() && targets.is_empty()) {
        return Ok(false);
    }
    for provider in providers {
        context.store.forget_health(Some(provider)).await?;
    }
    context.store.end_cooldowns(&targets, now_micros()).await?;
    Ok(true)
}

/// Whether these surroundings are not those of the last look.
fn note_surroundings(context: &Context, shelf: &Shelf) -> bool {
    let directory = context.paths.data_dir.join("catalogues");
    let file = directory.join("surroundings");
    let noted = std::fs::read_to_string(&file).ok();
    if noted.as_deref() == Some(shelf.surroundings()) {
        return false;
    }
    let written = private_dir(&directory).and_then(|()| write_private(&file, shelf.surroundings().as_bytes()));
    if let Err(error) = written {
        tracing::warn!(%error, "the surroundings could not be noted");
    }
    noted.is_some()
}
