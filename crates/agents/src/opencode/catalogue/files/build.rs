//! From what the files say to a catalogue: which providers OpenCode would connect, how, and with which
//! models. The order of precedence is OpenCode's own.

use super::{
    super::lenient::{OPENCODE, Secret, is_key_of},
    Places,
    draft::{Draft, USUAL_PACKAGE},
    logins::Login,
    models_cache::{ModelsCache, StoredProvider},
    settings::{ProviderSettings, Settings},
};
use std::collections::{BTreeMap, BTreeSet};
use switchyard_core::route::{Catalogue, Provider, Source, Status};

pub(super) struct Sources<'a> {
    pub(super) places: &'a Places,
    pub(super) settings: Settings,
    pub(super) logins: BTreeMap<String, Login>,
    pub(super) cache: Option<ModelsCache>,
}

impl Sources<'_> {
    pub(super) fn catalogue(&self) -> Catalogue {
        let stored = self.cache.iter().flat_map(BTreeMap::keys);
        let ids: BTreeSet<&String> = stored.chain(self.settings.providers.keys()).collect();
        let allowed = ids.into_iter().filter(|id| self.settings.allows(id));
        Catalogue {
            providers: allowed.filter_map(|id| Some((id.clone(), self.provider(id)?))).collect(),
            default_model: self.settings.model.clone(),
            small_model: self.settings.small_model.clone(),
        }
    }

    /// Without a stored catalogue the one inside OpenCode counts, which cannot be seen from here.
    pub(super) fn is_complete(&self) -> bool {
        // The configuration of an organisation comes from its server.
        if self.logins.values().any(|login| *login == Login::WellKnown) {
            return false;
        }
        if self.cache.is_some() {
            return true;
        }
        let describes = |id: &String| self.settings.providers.get(id).is_some_and(|own| !own.models.is_empty());
        let mut wanted = self.logins.keys().chain(self.settings.providers.keys());
        self.settings.providers.keys().any(describes) && wanted.all(|id| !self.settings.allows(id) || describes(id))
    }

    /// A provider as OpenCode would connect it, or else as the stored catalogue has it.
    fn provider(&self, id: &str) -> Option<Provider> {
        let stored = self.cache.as_ref().and_then(|cache| cache.get(id));
        let configured = self.settings.providers.get(id);
        self.connected(id, stored, configured).or_else(|| {
            let stored = stored?;
            let models = finished(stored.drafts());
            let (name, env) = (stored.name.clone(), stored.env.clone());
            Some(Provider { source: Source::Api, has_key: false, connected: false, name, env, models })
        })
    }

    fn connected(
        &self,
        id: &str,
        stored: Option<&StoredProvider>,
        configured: Option<&ProviderSettings>,
    ) -> Option<Provider> {
        let env = configured.and_then(|own| own.env.as_ref()).or(stored.map(|stored| &stored.env));
        let env = env.cloned().unwrap_or_default();
        let env_key = env.iter().any(|name| self.places.variable(name).is_some());
        let login = self.logins.get(id).copied();
        let api_key = configured.map_or(Secret::Absent, ProviderSettings::api_key);
        let source = match (configured, login) {
            (Some(_), _) => Source::Config,
            (None, Some(Login::Key(_))) => Source::Api,
            (None, _) if env_key => Source::Env,
            (None, Some(Login::OAuth | Login::WellKnown)) => Source::Custom,
            (None, None) if id == OPENCODE => Source::Custom,
            (None, None) => return None,
        };
        let mut drafts = stored.map(StoredProvider::drafts).unwrap_or_default();
        if let Some(configured) = configured {
            extend(&mut drafts, configured, stored);
        }
        if id == OPENCODE && !env_key && login.is_none() && api_key == Secret::Absent {
            drafts.retain(|_, draft| draft.is_free());
        }
        drafts.retain(|model, draft| self.offers(id, model, draft) && configured.is_none_or(|own| own.offers(model)));
        if drafts.is_empty() {
            return None;
        }
        let has_key = env_key || login.is_some_and(Login::has_key) || is_key_of(id, api_key);
        let name = configured.and_then(|own| own.name.as_ref()).or(stored.map(|stored| &stored.name));
        let name = name.map_or(id, String::as_str).to_owned();
        Some(Provider { source, has_key, connected: true, name, env, models: finished(drafts) })
    }

    /// Whether OpenCode offers a model of a connected provider at all.
    fn offers(&self, provider: &str, model: &str, draft: &Draft) -> bool {
        // Names that these providers list and then refuse.
        let refused = match model {
            "gpt-5-chat-latest" => ["openai", "github-copilot", "openrouter"].contains(&provider),
            "openai/gpt-5-chat" => provider == "openrouter",
            _ => false,
        };
        let stands = match draft.status() {
            Status::Active | Status::Beta => true,
            Status::Alpha => self.places.flag("OPENCODE_ENABLE_EXPERIMENTAL_MODELS"),
            Status::Deprecated => false,
        };
        stands && !refused
    }
}

/// The models of the configuration over those of the stored catalogue.
fn extend(drafts: &mut BTreeMap<String, Draft>, configured: &ProviderSettings, stored: Option<&StoredProvider>) {
    for (id, described) in &configured.models {
        let behind = described.id.as_ref().unwrap_or(id);
        let existing = drafts.get(behind);
        let name = match (&described.name, existing) {
            (Some(name), _) if !name.is_empty() => name.clone(),
            (_, Some(existing)) if behind == id => existing.name().to_owned(),
            _ => id.clone(),
        };
        let npm = described
            .npm()
            .or(configured.npm.as_deref())
            .or(existing.map(|existing| existing.npm.as_str()))
            .or(stored.and_then(|stored| stored.npm.as_deref()))
            .unwrap_or(USUAL_PACKAGE)
            .to_owned();
        let base = existing.cloned().unwrap_or_else(Draft::configured);
        drafts.insert(id.clone(), base.with(described, name, npm));
    }
}

fn finished(drafts: BTreeMap<String, Draft>) -> BTreeMap<String, switchyard_core::route::Model> {
    drafts
        .into_iter()
        .map(|(id, draft)| {
            let model = draft.finished(&id);
            (id, model)
        })
        .collect()
}
