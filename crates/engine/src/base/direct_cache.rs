//! What the direct calls of a process share: one client, and what the files contain about providers. How a model is
//! reached is decided in `dispatch`; this only keeps it.

use serde_json::{Map, Value};
use shuntyard_agents::openai::{Direct, Provider};
use shuntyard_core::routing::Catalogue;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};
use tokio::sync::OnceCell;

/// A provider that can be asked directly, with the name that it has for the model.
#[derive(Debug)]
pub(crate) struct DirectEndpoint {
    pub(crate) provider: Provider,
    pub(crate) model_id: String,
    /// What OpenCode would add to the request for this model.
    pub(crate) body: Map<String, Value>,
    pub(crate) most_output: u64,
}

/// What is shared by all direct calls of a process.
#[derive(Debug, Clone, Default)]
pub struct DirectCache {
    client: Arc<OnceLock<Direct>>,
    pub(crate) endpoints: Arc<Mutex<BTreeMap<(PathBuf, String), Endpoints>>>,
    lists: Arc<Mutex<BTreeMap<PathBuf, List>>>,
    pub(crate) swept: Arc<OnceCell<()>>,
}

/// The models of a directory, and the providers that only its own settings describe.
type List = (Arc<Catalogue>, BTreeSet<String>);

/// How a model is reached, or why it cannot be.
type Found = Result<Arc<DirectEndpoint>, String>;

/// The endpoints of all models of a provider: the files that contain them are read once.
type Endpoints = Result<BTreeMap<String, Found>, String>;

impl DirectCache {
    /// One client for all, so that connections are shared.
    pub(crate) fn client(&self) -> Result<Direct, String> {
        if let Some(client) = self.client.get() {
            return Ok(client.clone());
        }
        let made = Direct::new().map_err(|error| error.to_string())?;
        Ok(self.client.get_or_init(|| made).clone())
    }

    /// The list that was kept for a directory.
    pub(crate) fn listed(&self, directory: &Path) -> Option<List> {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).get(directory).cloned()
    }

    pub(crate) fn keep_list(&self, directory: &Path, list: List) {
        self.lists.lock().unwrap_or_else(PoisonError::into_inner).insert(directory.to_owned(), list);
    }
}
