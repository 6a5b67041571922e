//! The way to a provider without OpenCode: whether there is one, and what it takes. Looked up once for each model.

use crate::{
    Context,
    base::{direct_cache::DirectEndpoint, opencode_files::places},
    servers::recovery::recover_abandoned,
};
use shuntyard_agents::{
    openai::Provider,
    opencode::catalogue::{Access, NoAccess, accesses},
};
use shuntyard_core::{ModelRef, routing::request::Request, settings::Via, values::Mode};
use shuntyard_store::DispatchRecord;
use std::{
    path::Path,
    sync::{Arc, PoisonError},
};

/// Open dispatches that are looked at in one go, at most.
const AT_ONCE: u32 = 200;

/// Closes what processes have left open that died in the middle of a direct call: what they had reserved is settled
/// as an estimate of their cost. On a server its keeper does that; a process that works without one does it once.
pub(crate) async fn close_abandoned(context: &Context) {
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
    context.direct.swept.get_or_init(sweep).await;
}

fn endpoint(context: &Context, directory: &Path, model: &ModelRef) -> Result<Arc<DirectEndpoint>, String> {
    if model.variant.is_some() {
        return Err(NoAccess::Variant.to_string());
    }
    let key = (directory.to_owned(), model.provider.clone());
    let mut providers = context.direct.endpoints.lock().unwrap_or_else(PoisonError::into_inner);
    let endpoints = providers.entry(key).or_insert_with(|| {
        let found = accesses(&places(context, directory), &model.provider).map_err(|error| error.to_string())?;
        let found = found.into_iter().map(|(name, access)| {
            let endpoint = access.map_err(|error| error.to_string()).and_then(endpoint_of);
            (name, endpoint.map(Arc::new))
        });
        Ok(found.collect())
    });
    match endpoints {
        Ok(endpoints) => endpoints.get(&model.model).cloned().unwrap_or_else(|| Err(NoAccess::NotOffered.to_string())),
        Err(why) => Err(why.clone()),
    }
}

fn endpoint_of(found: Access) -> Result<DirectEndpoint, String> {
    let headers = found.headers.iter().map(|(name, value)| (name.as_str(), value));
    let provider = Provider::new(&found.base_url, found.key.as_ref(), headers).map_err(|error| error.to_string())?;
    Ok(DirectEndpoint { provider, model_id: found.model_id, body: found.body, most_output: found.max_output_tokens })
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
    Direct(Arc<DirectEndpoint>),
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
    match endpoint(context, &request.directory, model) {
        Ok(endpoint) => Way::Direct(endpoint),
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
