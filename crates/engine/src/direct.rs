//! The way to a provider without OpenCode: whether there is one, and what it takes. Looked up once for each model.

use crate::{Context, catalogue::places, recover::recover_abandoned};
use serde_json::{Map, Value};
use shuntyard_agents::{
    openai::{Direct, Provider},
    opencode::catalogue::{Access, NoAccess, accesses},
};
use shuntyard_core::{
    ModelRef,
    config::Via,
    dispatch::{Mode, Request},
    route::Catalogue,
};
use shuntyard_store::DispatchRecord;
use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, OnceLock, PoisonError},
};
use tokio::sync::OnceCell;

/// Open dispatches that are looked at in one go, at most.
const AT_ONCE: u32 = 200;

/// A provider that can be asked directly, with the name that it has for the model.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) provider: Provider,
    pub(crate) model_id: String,
    /// What OpenCode would add to the request for this model.
    pub(crate) body: Map<String, Value>,
    pub(crate) most_output: u64,
}

/// What is shared by all direct calls of a process.
#[derive(Debug, Clone, Default)]
pub struct Exchange {
    client: Arc<OnceLock<Direct>>,
    lines: Arc<Mutex<BTreeMap<(PathBuf, String), Lines>>>,
    lists: Arc<Mutex<BTreeMap<PathBuf, List>>>,
    swept: Arc<OnceCell<()>>,
}

/// The models of a directory, and the providers that only its own settings describe.
type List = (Arc<Catalogue>, BTreeSet<String>);

/// A line, or why there is none.
type Found = Result<Arc<Line>, String>;

/// The lines to all models of a provider: the files that tell of them are read once.
type Lines = Result<BTreeMap<String, Found>, String>;

impl Exchange {
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

    /// Closes what processes have left open that died in the middle of a direct call: what they had reserved is settled
    /// as an estimate of their cost. On a server its keeper does that; a process that works without one does it once.
    pub(crate) async fn sweep(&self, context: &Context) {
        let sweep = || async {
            let open = context.store.unfinished_dispatches(AT_ONCE).await.unwrap_or_default();
            let is_direct = |dispatch: &&DispatchRecord| {
                dispatch.attempts.iter().all(|attempt| attempt.server.is_none() && attempt.session.is_none())
            };
            for dispatch in open.iter().filter(is_direct) {
                if let Err(error) = recover_abandoned(context, Some(dispatch.id)).await {
                    tracing::warn!(%error, dispatch = %dispatch.id, "an abandoned dispatch could not be closed");
                }
            }
        };
        self.swept.get_or_init(sweep).await;
    }

    fn line(&self, context: &Context, directory: &Path, model: &ModelRef) -> Found {
        if model.variant.is_some() {
            return Err(NoAccess::Variant.to_string());
        }
        let key = (directory.to_owned(), model.provider.clone());
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        let lines = lines.entry(key).or_insert_with(|| {
            let found = accesses(&places(context, directory), &model.provider).map_err(|error| error.to_string())?;
            let found = found.into_iter().map(|(name, access)| {
                let line = access.map_err(|error| error.to_string()).and_then(line_of);
                (name, line.map(Arc::new))
            });
            Ok(found.collect())
        });
        match lines {
            Ok(lines) => lines.get(&model.model).cloned().unwrap_or_else(|| Err(NoAccess::NotOffered.to_string())),
            Err(why) => Err(why.clone()),
        }
    }
}

fn line_of(found: Access) -> Result<Line, String> {
    let headers = found.headers.iter().map(|(name, value)| (name.as_str(), value));
    let provider = Provider::new(&found.base_url, found.key.as_ref(), headers).map_err(|error| error.to_string())?;
    Ok(Line { provider, model_id: found.model_id, body: found.body, most_output: found.max_output_tokens })
}

/// How many are asked by the same command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Company {
    #[default]
    Alone,
    /// One of several that are asked at once.
    Many,
}

/// The way that a request takes to a model.
#[derive(Debug, Clone)]
pub(crate) enum Way {
    OpenCode,
    Direct(Arc<Line>),
    /// The direct way was demanded, and this is why there is none.
    Barred(String),
}

pub(crate) fn way(context: &Context, request: &Request, via: Via, company: Company, model: &ModelRef) -> Way {
    let demanded = match (via, company) {
        (Via::Opencode, _) | (Via::Auto, Company::Alone) => return Way::OpenCode,
        (Via::Direct, _) => true,
        (Via::Auto, Company::Many) => false,
    };
    // The setting of a provider is about text; what a request itself demands was looked at before.
    if needs_opencode(context, request).is_some() {
        return Way::OpenCode;
    }
    match context.exchange.line(context, &request.directory, model) {
        Ok(line) => Way::Direct(line),
        Err(why) if demanded => Way::Barred(format!("{model}: {why}")),
        Err(why) => {
            tracing::debug!(%model, why, "it is asked through OpenCode");
            Way::OpenCode
        }
    }
}

/// What only OpenCode can do.
pub(crate) fn needs_opencode(context: &Context, request: &Request) -> Option<&'static str> {
    if request.mode != Mode::Text {
        Some("tools and commands are OpenCode's")
    } else if request.session.is_some() || request.keep {
        Some("sessions are OpenCode's")
    } else if request.agent.is_some() {
        Some("agents are OpenCode's")
    } else if !context.config.server.url.is_empty() {
        Some("a server is named, which has keys of its own")
    } else {
        None
    }
}
