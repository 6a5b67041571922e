//! What OpenCode would use to ask a model of an OpenAI-compatible provider, for one who asks it without OpenCode.
//!
//! Invariant: an access is returned only where it is the same request with the same credential to the same place, and
//! only from the user's own files and variables. A directory's files can refuse, but never adds. Everything else is a
//! reason to leave the prompt to OpenCode. No secret is in a reason or in debug output.

mod address;
mod credential;
mod defaults;
mod options;
mod veto;

use super::{
    Places,
    build::Sources,
    draft::{Draft, USUAL_PACKAGE},
    layers::merged,
    logins, models_cache, settings,
    substitute::Mark,
};
use options::ProviderOptions;
use secrecy::SecretString;
use serde_json::{Map, Value};
use shuntyard_core::ModelRef;
use std::{collections::BTreeMap, fmt};

/// One model, ready to be asked.
#[derive(Clone)]
pub struct Access {
    /// The part before `/chat/completions`, without a slash at its end.
    pub base_url: String,
    /// `None` for a provider that wants none.
    pub key: Option<SecretString>,
    /// The names are lower case, each there once. One of them may be `authorization`, which then replaces the key.
    pub headers: Vec<(String, SecretString)>,
    /// The model's id as it is sent, which can be another one than it is listed under.
    pub model_id: String,
    /// What OpenCode sends as `max_tokens`.
    pub max_output_tokens: u64,
    /// Further fields of the request, by their names on the wire.
    pub body: Map<String, Value>,
}

/// Why only OpenCode can ask this model; each completes "asked through OpenCode, since …".
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoAccess {
    #[error("a variant is asked for")]
    Variant,
    #[error("it does not speak the OpenAI-compatible protocol")]
    OtherProtocol,
    #[error("OpenCode treats this provider in a way of its own")]
    OwnWays,
    #[error("OpenCode does not offer this model")]
    NotOffered,
    #[error("there is no base address for it")]
    NoBaseUrl,
    #[error("its base address is not a plain http or https address")]
    BadBaseUrl,
    #[error("there is no key for it")]
    NoKey,
    #[error("its login is not a plain key")]
    Login,
    #[error("the directory's own settings have a say in it")]
    Foreign,
    #[error("a plugin of OpenCode may change requests")]
    Plugins,
    #[error("the option `{0}` is only understood by OpenCode")]
    Options(String),
    #[error("a file of OpenCode cannot be read")]
    Unreadable,
    #[error("it is described only in the catalogue inside OpenCode")]
    Catalogue,
}

/// What OpenCode would use for this model. A `NoAccess` is no failure: OpenCode can be asked.
pub fn access(places: &Places, model: &ModelRef) -> Result<Access, NoAccess> {
    if model.variant.is_some() {
        return Err(NoAccess::Variant);
    }
    accesses(places, &model.provider)?.remove(&model.model).unwrap_or(Err(NoAccess::NotOffered))
}

/// The same for all models of a provider: the files are read once.
pub fn accesses(places: &Places, id: &str) -> Result<BTreeMap<String, Result<Access, NoAccess>>, NoAccess> {
    if veto::has_own_ways(id) {
        return Err(NoAccess::OwnWays);
    }
    let own = veto::without_directory(places)?;
    let mut problems = Vec::new();
    let config = merged(&own, Mark::Nothing, &mut problems);
    let everything = merged(places, Mark::Nothing, &mut problems);
    if veto::is_foreign(id, &everything, &config) {
        return Err(NoAccess::Foreign);
    }
    if veto::has_plugins(places, &everything) {
        return Err(NoAccess::Plugins);
    }
    veto::text_agent(&everything)?;
    let logins = logins::entries(&own, &mut problems);
    let cache = models_cache::read_one(&own, id, &mut problems);
    let options = options::of_provider(&config, id).map_err(|name| refused(name, &own))?;
    let settings = settings::of(config, &mut problems);
    if !problems.is_empty() {
        return Err(NoAccess::Unreadable);
    }
    let sources = Sources { places: &own, settings, logins: logins::of(&logins), cache };
    let one = |name: &String, draft: Draft| {
        veto::is_certain(&sources, &ModelRef::new(id, name), &options)?;
        if draft.npm != USUAL_PACKAGE {
            return Err(NoAccess::OtherProtocol);
        }
        ready(&sources, id, draft, &options, logins.get(id))
    };
    let found = offered(&sources, id)?.into_iter().map(|(name, draft)| {
        let access = one(&name, draft);
        (name, access)
    });
    Ok(found.collect())
}

/// The models, if OpenCode connects their provider with nothing but a key and then offers them.
fn offered(sources: &Sources<'_>, id: &str) -> Result<BTreeMap<String, Draft>, NoAccess> {
    credential::plain(sources, id)?;
    if !sources.settings.allows(id) {
        return Err(NoAccess::NotOffered);
    }
    if sources.source(id).is_none() {
        return Err(if sources.stored(id).is_some() { NoAccess::NoKey } else { NoAccess::NotOffered });
    }
    sources.offered(id).ok_or(NoAccess::NotOffered)
}

fn ready(
    sources: &Sources<'_>,
    id: &str,
    draft: Draft,
    options: &ProviderOptions,
    login: Option<&Value>,
) -> Result<Access, NoAccess> {
    let places = sources.places;
    let url = address::base_url(options.base_url.as_deref().unwrap_or(&draft.wire.url), places)?;
    let headers = options::headers(&options.headers, &draft.wire.headers)?;
    let key = credential::key(sources, id, options.api_key.as_deref(), login)?;
    if key.is_none() && credential::is_missed(sources, id, options, &headers, &url) {
        return Err(NoAccess::NoKey);
    }
    let body = options::body(defaults::of(id, &draft), &draft.wire.options).map_err(|name| refused(name, places))?;
    let max_output_tokens = defaults::max_output_tokens(places, draft.output());
    Ok(Access { base_url: address::text(&url), key, headers, model_id: draft.wire.id, max_output_tokens, body })
}

fn refused(option: String, places: &Places) -> NoAccess {
    NoAccess::Options(veto::presentable(option, places))
}

impl fmt::Debug for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An address, a name or a value can be made of a secret, so that only their number is shown.
        f.debug_struct("Access")
            .field("key", &self.key.is_some())
            .field("headers", &self.headers.len())
            .field("max_output_tokens", &self.max_output_tokens)
            .field("body", &self.body.len())
            .finish_non_exhaustive()
    }
}
