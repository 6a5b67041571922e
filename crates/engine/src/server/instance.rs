//! What a managed server has read for one directory: the project's configuration, as stamps.
//!
//! OpenCode reads a project's configuration once, so the directory's instance is disposed of when the
//! files have changed. One that it cannot read it remembers for as long as it lives, whatever becomes of the
//! file: such a server gets no new work, and the next request meets one that reads again. One that others are
//! using stays, though: a broken file is no reason to take a server from them.

use super::give_up;
use crate::Context;
use sha2::{Digest, Sha256};
use std::path::Path;
use switchyard_agents::opencode::{ApiError, Client};
use switchyard_core::ServerId;
use switchyard_host::paths::{private_dir, write_private};

/// Looks at the stamps of the directory's configuration, and makes the server read it again if it has changed. A
/// server that the user runs is left alone. Returns what the requester should be told.
pub(crate) async fn refresh_instance(
    context: &Context,
    server: Option<ServerId>,
    client: &Client,
    directory: &Path,
    stamps: &str,
) -> Option<String> {
    let server = server?;
    let notes = context.servers_dir().join(format!("{server}.directories"));
    let file = notes.join(short_hash(&directory.to_string_lossy()));
    let stamp = short_hash(stamps);
    let noted = std::fs::read_to_string(&file).ok();
    if noted.as_deref() == Some(stamp.as_str()) {
        return None;
    }
    if noted.is_some() {
        let warning = read_again(client).await;
        if warning.is_some() {
            // Not noted as read, so that the next look tries again.
            return warning;
        }
    }
    if let Err(ApiError::Configuration { .. }) = client.running().await {
        // What is wrong, the requester is told by its next call.
        if context.store.leases(server).await.is_ok_and(|leases| leases.len() <= 1) {
            give_up(context, server).await;
        }
        return None;
    }
    // Also when there was no answer: it may have been read, and then a later change has to be seen as one.
    if let Err(error) = private_dir(&notes).and_then(|()| write_private(&file, stamp.as_bytes())) {
        tracing::warn!(%error, "the state of a project's configuration could not be noted");
    }
    None
}

async fn read_again(client: &Client) -> Option<String> {
    match client.running().await {
        // It was not read the last time, so there is nothing to dispose of.
        Err(ApiError::Configuration { .. }) => None,
        Ok(running) if running.is_empty() => client
            .dispose_instance()
            .await
            .err()
            .map(|error| format!("the project's changed OpenCode configuration was not read again: {error}")),
        Ok(_) => {
            Some("the project's OpenCode configuration changed; other work runs here, so it is not read yet".into())
        }
        Err(error) => {
            Some(format!("whether the project's changed OpenCode configuration may be read is unknown: {error}"))
        }
    }
}

pub(crate) fn short_hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}
