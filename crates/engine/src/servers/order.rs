//! The parameters that the starter of a keeper gives it.

use crate::Context;
use serde::{Deserialize, Serialize};
use shuntyard_core::{ServerId, settings};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{Owner, ServerRecord, ServerState};
use std::path::{Path, PathBuf};

/// What a keeper gets when it is started. No secret is in it: it is visible in the process list.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeeperOrder {
    pub server: ServerId,
    pub slot: String,
    pub fingerprint: String,
    pub binary: PathBuf,
    /// The store, so that the keeper opens the same one whatever its environment says.
    pub store: PathBuf,
    pub data_dir: PathBuf,
    /// The server's settings as its starter has them: files may differ by now.
    pub settings: settings::Server,
    pub sessions: settings::Sessions,
    /// End with this process: for tests and build machines, which must leave nothing behind.
    pub owner_pid: Option<u32>,
}

impl KeeperOrder {
    #[must_use]
    pub fn new(context: &Context, server: ServerId, slot: String, fingerprint: &str, binary: &Path) -> Self {
        Self {
            server,
            slot,
            fingerprint: fingerprint.to_owned(),
            binary: binary.to_owned(),
            store: context.store_path.clone(),
            data_dir: context.paths.data_dir.clone(),
            settings: context.config.server.clone(),
            sessions: context.config.sessions.clone(),
            owner_pid: context.variable("SHUNTYARD_SERVER_OWNER_PID").and_then(|pid| pid.parse().ok()),
        }
    }

    /// The server's row before it runs.
    pub(super) fn first_record(&self, keeper: Owner) -> ServerRecord {
        let now = now_micros();
        ServerRecord {
            id: self.server,
            slot: self.slot.clone(),
            state: ServerState::Starting,
            url: String::new(),
            version: String::new(),
            fingerprint: self.fingerprint.clone(),
            keeper,
            process: None,
            started_at: now,
            changed_at: now,
            problem: None,
        }
    }
}
