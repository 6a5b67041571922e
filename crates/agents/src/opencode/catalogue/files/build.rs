//! From the files to a catalogue: which providers OpenCode would connect, how, and with which
//! models. The order of precedence is OpenCode's own.

use super::{
    super::lenient::{OPENCODE, Secret, is_key_of},
    Places,
    draft::{Draft, USUAL_PACKAGE},
    logins::Login,
    models_cache::{ModelsCache, StoredProvider},
    settings::{ProviderSettings, Settings},
};
use shuntyard_core::routing::{Catalogue, Models, Provider, Source, Status};
use std::collections::{BTreeMap, BTreeSet};

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
        self.connected(id).or_else(|| {
            let stored = self.stored(id)?;
            let models = finished(stored.drafts());
            let (name, env) = (stored.name.clone(), stored.env.clone());
            Some(Provider { source: Source::Api, has_key: false, connected: false, name, env, models })
        })
    }

    fn connected(&self, id: &str) -> Option<Provider> {
        let source = self.source(id)?;
        let drafts = self.offered(id)?;
        let (stored, configured) = (self.stored(id), self.configured(id));
        let login = self.logins.get(id).copied();
        let has_key = self.env_key(id) || login.is_some_and(Login::has_key) || is_key_of(id, self.api_key(id));
        let name = configured.and_then(|own| own.name.as_ref()).or(stored.map(|stored| &stored.name));
        let name = name.map_or(id, String::as_str).to_owned();
        Some(Provider { source, has_key, connected: true, name, env: self.env(id).to_vec(), models: finished(drafts) })
    }

    /// What makes OpenCode connect a provider; `None` when nothing does.
    pub(super) fn source(&self, id: &str) -> Option<Source> {
        match (self.configured(id), self.logins.get(id)) {
            (Some(_), _) => Some(Source::Config),
            (None, Some(Login::Key(_))) => Some(Source::Api),
            (None, _) if self.env_key(id) => Some(Source::Env),
            (None, Some(Login::OAuth | Login::WellKnown)) => Some(Source::Custom),
            (None, None) if id == OPENCODE => Some(Source::Custom),
            (None, None) => None,
        }
    }

    /// The models of a provider once it is connected; `None` without any, for then it is not.
    pub(super) fn offered(&self, id: &str) -> Option<BTreeMap<String, Draft>> {
        let (stored, configured) = (self.stored(id), self.configured(id));
        let mut drafts = stored.map(StoredProvider::drafts).unwrap_or_default();
        if let Some(configured) = configured {
            extend(&mut drafts, configured, stored);
        }
        let known = self.env_key(id) || self.logins.contains_key(id) || self.api_key(id) != Secret::Absent;
        if id == OPENCODE && !known {
            drafts.retain(|_, draft| draft.is_free());
        }
        drafts.retain(|model, draft| self.offers(id, model, draft) && configured.is_none_or(|own| own.offers(model)));
        (!drafts.is_empty()).then_some(drafts)
    }

    /// The variables that may hold a provider's key.
    pub(super) fn env(&self, id: &str) -> &[String] {
        let configured = self.configured(id).and_then(|own| own.env.as_ref());
        configured.or(self.stored(id).map(|stored| &stored.env)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn configured(&self, id: &str) -> Option<&ProviderSettings> {
        self.settings.providers.get(id)
    }

    pub(super) fn stored(&self, id: &str) -> Option<&StoredProvider> {
        self.cache.as_ref().and_then(|cache| cache.get(id))
    }

    fn env_key(&self, id: &str) -> bool {
        self.env(id).iter().any(|name| self.places.variable(name).is_some())
    }

    fn api_key(&self, id: &str) -> Secret {
        self.configured(id).map_or(Secret::Absent, ProviderSettings::api_key)
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
        let url = described
            .api()
            .or(configured.api.as_deref())
            .or(existing.map(|existing| existing.wire.url.as_str()))
            .or(stored.and_then(|stored| stored.api.as_deref()))
            .unwrap_or_default()
            .to_owned();
        let base = existing.cloned().unwrap_or_else(Draft::configured);
        let known = existing.map(|existing| &existing.wire.id);
        let wire_id = described.id.as_ref().or(known).unwrap_or(id).clone();
        let wire = base.wire.with(described, wire_id, url);
        drafts.insert(id.clone(), base.with(described, name, npm, wire));
    }
}

fn finished(drafts: BTreeMap<String, Draft>) -> Models {
    drafts
        .into_iter()
        .map(|(id, draft)| {
            let model = draft.finished(&id);
            (id, model)
        })
        .collect()
}
