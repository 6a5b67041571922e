//! Project configuration that changed while a server runs: OpenCode reads it once per directory, so
//! the directory's instance is disposed of when the files differ from those that it has read.

use super::fingerprint::{settings_of, stamp, stamp_directory};
use crate::Context;
use sha2::{Digest, Sha256};
use std::path::Path;
use switchyard_agents::opencode::Client;
use switchyard_core::ServerId;
use switchyard_host::paths::{private_dir, write_private};

/// Makes sure that the server sees the directory's present configuration. A warning when it cannot,
/// because other work is running there.
pub(crate) async fn refresh_instance(
    context: &Context,
    server: ServerId,
    client: &Client,
    directory: &Path,
) -> Option<String> {
    let seen = context.servers_dir().join(format!("{server}.directories"));
    let file = seen.join(hex(&directory.to_string_lossy()));
    let now = hex(&project_stamps(directory));
    let before = std::fs::read_to_string(&file).ok();
    if before.as_deref() == Some(now.as_str()) {
        return None;
    }
    if before.is_some() {
        match client.running().await {
            Ok(running) if running.is_empty() => {
                if let Err(error) = client.dispose_instance().await {
                    return Some(format!("the project's changed OpenCode configuration was not read again: {error}"));
                }
            }
            _ => {
                return Some(
                    "the project's OpenCode configuration changed; other work runs here, so it is not read yet".into(),
                );
            }
        }
    }
    if let Err(error) = private_dir(&seen).and_then(|()| write_private(&file, now.as_bytes())) {
        tracing::warn!(%error, "the state of a project's configuration could not be noted");
    }
    None
}

/// `opencode.json(c)` and `.opencode/` from the directory up to the repository's root.
fn project_stamps(directory: &Path) -> String {
    let mut stamps = Vec::new();
    for level in directory.ancestors() {
        for name in ["opencode.json", "opencode.jsonc"] {
            let file = level.join(name);
            if file.is_file() {
                stamps.push(settings_of(&file).unwrap_or_else(|| stamp(&file)));
            }
        }
        stamp_directory(&level.join(".opencode"), 2, &mut stamps);
        if level.join(".git").exists() {
            break;
        }
    }
    stamps.join("\n")
}

fn hex(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}
