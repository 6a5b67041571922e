//! What a managed server has read for one directory: the project's configuration, as stamps.
//!
//! OpenCode reads a project's configuration once, so the directory's instance is disposed of when the
//! files have changed. A configuration that it cannot read stays in its memory until the server ends, even after
//! the file is fixed: such a server gets no new work, and the next request uses another one. A server that other
//! requests are using is kept: one broken file must not take their server away.

use super::give_up;
use crate::{Context, base::hash::short_hash};
use shuntyard_agents::opencode::{ApiError, Client};
use shuntyard_core::ServerId;
use shuntyard_host::paths::{private_dir, write_private};
use std::path::{Path, PathBuf};

/// Checks the stamps of the directory's configuration, and makes the server read it again if it has changed. A server
/// that the user runs is not touched. Returns a warning for the requester.
pub(crate) async fn refresh_instance(
    context: &Context,
    server: Option<ServerId>,
    client: &Client,
    directory: &Path,
    stamps: &str,
) -> Option<String> {
    let server = server?;
    let file = note_file(context, server, directory);
    let stamp = short_hash(stamps);
    let noted = std::fs::read_to_string(&file).ok();
    if noted.as_deref() == Some(stamp.as_str()) {
        return None;
    }
    if noted.is_some() {
        let warning = read_again(client).await;
        if warning.is_some() {
            // Not noted as read, so that the next check tries again.
            return warning;
        }
    }
    if let Err(ApiError::Configuration { .. }) = client.running_once_read().await {
        // The requester's next call reports what is wrong.
        retire_unreadable(context, server, directory).await;
        return None;
    }
    // Also when there was no answer: it may have been read, and then a later change has to be seen as one.
    let written = file.parent().map_or(Ok(()), private_dir).and_then(|()| write_private(&file, stamp.as_bytes()));
    if let Err(error) = written {
        tracing::warn!(%error, "the state of a project's configuration could not be noted");
    }
    None
}

/// Whether this server has read the directory's configuration before. If it has, an error that it reports may be
/// older than the files.
pub(crate) fn has_read(context: &Context, server: ServerId, directory: &Path) -> bool {
    note_file(context, server, directory).exists()
}

/// Ends new work on a server that cannot read the directory's configuration, unless other requests use it. Returns
/// whether it did.
pub(crate) async fn retire_unreadable(context: &Context, server: ServerId, directory: &Path) -> bool {
    drop(std::fs::remove_file(note_file(context, server, directory)));
    let alone = context.store.leases(server).await.is_ok_and(|leases| leases.len() <= 1);
    if alone {
        give_up(context, server).await;
    }
    alone
}

fn note_file(context: &Context, server: ServerId, directory: &Path) -> PathBuf {
    let notes = context.servers_dir().join(format!("{server}.directories"));
    notes.join(short_hash(&directory.to_string_lossy()))
}

async fn read_again(client: &Client) -> Option<String> {
    match client.running_once_read().await {
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
