//! What a managed server has read for one directory: the project's configuration, as stamps, and the
//! models that it offers there.
//!
//! OpenCode reads a project's configuration once, so the directory's instance is disposed of when the
//! files have changed. The models are kept for a few minutes, because listing them costs the server
//! more than half of a short prompt.

use super::fingerprint::{settings_of, stamp, stamp_directory};
use crate::Context;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use switchyard_agents::opencode::{ApiError, Client};
use switchyard_core::{ServerId, route::Catalogue};
use switchyard_host::{
    clock::now_micros,
    paths::{private_dir, write_private},
};

const CATALOGUE_LASTS_MICROS: i64 = 5 * 60 * 1_000_000;

/// A directory on a server, as far as it is known without asking.
#[derive(Debug)]
pub(crate) struct Instance {
    note: Option<PathBuf>,
    stamp: String,
    known: Option<Catalogue>,
    pub(crate) warning: Option<String>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Note {
    stamp: String,
    read_at: i64,
    catalogue: Option<Catalogue>,
}

impl Instance {
    /// Looks at the directory's configuration, and makes the server read it again if it has changed. A
    /// server that the user runs is left alone.
    pub(crate) async fn look(context: &Context, server: Option<ServerId>, client: &Client, directory: &Path) -> Self {
        let Some(server) = server else {
            return Self { note: None, stamp: String::new(), known: None, warning: None };
        };
        let notes = context.servers_dir().join(format!("{server}.directories"));
        let file = notes.join(short_hash(&directory.to_string_lossy()));
        let stamp = short_hash(&project_stamps(directory));
        let note: Option<Note> = std::fs::read(&file).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
        let mut instance = Self { note: Some(file), stamp, known: None, warning: None };
        match note {
            Some(note) if note.stamp == instance.stamp => {
                let fresh = (0..CATALOGUE_LASTS_MICROS).contains(&(now_micros() - note.read_at));
                instance.known = note.catalogue.filter(|_| fresh);
            }
            Some(_) => instance.warning = read_again(client).await,
            None => instance.write(None),
        }
        if instance.warning.is_some() {
            // Not noted as read, so that the next look tries again.
            instance.note = None;
        }
        instance
    }

    /// The models, as they were a short while ago.
    pub(crate) fn known_catalogue(&self) -> Option<&Catalogue> {
        self.known.as_ref()
    }

    /// The models, asked for now.
    pub(crate) async fn read_catalogue(&self, client: &Client) -> Result<Catalogue, ApiError> {
        let catalogue = client.catalogue().await?;
        self.write(Some(&catalogue));
        Ok(catalogue)
    }

    fn write(&self, catalogue: Option<&Catalogue>) {
        let Some(file) = &self.note else { return };
        let note = Note { stamp: self.stamp.clone(), read_at: now_micros(), catalogue: catalogue.cloned() };
        let bytes = serde_json::to_vec(&note).unwrap_or_default();
        let written = file.parent().map_or(Ok(()), private_dir).and_then(|()| write_private(file, &bytes));
        if let Err(error) = written {
            tracing::warn!(%error, "the state of a project's configuration could not be noted");
        }
    }
}

async fn read_again(client: &Client) -> Option<String> {
    match client.running().await {
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

fn short_hash(text: &str) -> String {
    Sha256::digest(text.as_bytes()).iter().take(12).map(|byte| format!("{byte:02x}")).collect()
}
