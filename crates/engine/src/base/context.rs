//! What every use case needs: the store, the settings, the places, and the caller's environment.

use crate::base::direct_cache::DirectCache;
use secrecy::SecretString;
use shuntyard_core::settings::Config;
use shuntyard_host::paths::Paths;
use shuntyard_store::Store;
use std::{collections::BTreeMap, path::PathBuf, sync::Arc};

#[derive(Debug, Clone)]
pub struct Context {
    pub store: Arc<dyn Store>,
    /// Where the store is, for the processes that we start.
    pub store_path: PathBuf,
    pub config: Config,
    pub paths: Paths,
    pub environment: BTreeMap<String, String>,
    /// This program, to be started again as keeper or guard.
    pub program: PathBuf,
    /// The password of a server that the user named.
    pub server_password: Option<SecretString>,
    /// Where each setting was set, unless it is built in.
    pub origins: BTreeMap<String, String>,
    /// What direct calls share.
    pub direct: DirectCache,
}

impl Context {
    #[must_use]
    pub fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }

    /// Where managed servers keep their private files.
    #[must_use]
    pub fn servers_dir(&self) -> PathBuf {
        self.paths.data_dir.join("servers")
    }

    /// Where OpenCode is installed by us, one directory for each version.
    #[must_use]
    pub fn installs_dir(&self) -> PathBuf {
        self.paths.data_dir.join("opencode")
    }
}
