//! The catalogue of a running server: what it would use, and for the full one also what it merely knows.

use super::{lenient::lenient, listed::ListedProvider};
use serde::Deserialize;
use shuntyard_core::routing::{Catalogue, Provider};
use std::collections::{BTreeMap, BTreeSet};

/// `GET /config/providers`: the providers that this server would really use.
#[derive(Debug, Deserialize)]
pub(in super::super) struct ConfiguredProviders {
    providers: Vec<ListedProvider>,
}

/// `GET /provider`: all that it knows of, several thousand models.
#[derive(Debug, Default, Deserialize)]
pub(in super::super) struct AllProviders {
    #[serde(default)]
    all: Option<Vec<ListedProvider>>,
    #[serde(default, deserialize_with = "lenient")]
    connected: BTreeSet<String>,
}

/// `GET /config`: only the settings that we need; the rest may hold keys.
#[derive(Debug, Default, Deserialize)]
pub(in super::super) struct ConfiguredModels {
    #[serde(default, deserialize_with = "lenient")]
    model: Option<String>,
    #[serde(default, deserialize_with = "lenient")]
    small_model: Option<String>,
}

/// What the server would use.
pub(in super::super) fn connected(used: ConfiguredProviders, models: &ConfiguredModels) -> Catalogue {
    assembled(used.providers.into_iter().map(ListedProvider::connected).collect(), models)
}

/// The same, with all that the server merely knows of.
pub(in super::super) fn full(used: ConfiguredProviders, known: AllProviders, models: &ConfiguredModels) -> Catalogue {
    // Beside a server's list of what it would use, the other one also names logins that it cannot use: those have
    // no key to show.
    let tells = !used.providers.is_empty();
    let mut providers: BTreeMap<String, Provider> = known
        .all
        .unwrap_or_default()
        .into_iter()
        .map(|provider| {
            if !known.connected.contains(&provider.id) {
                return provider.known();
            }
            let (id, mut provider) = provider.connected();
            provider.connected = provider.has_key || !tells;
            (id, provider)
        })
        .collect();
    providers.extend(used.providers.into_iter().map(ListedProvider::connected));
    assembled(providers, models)
}

fn assembled(providers: BTreeMap<String, Provider>, models: &ConfiguredModels) -> Catalogue {
    let parsed = |name: &Option<String>| name.as_deref().and_then(|name| name.parse().ok());
    Catalogue { providers, default_model: parsed(&models.model), small_model: parsed(&models.small_model) }
}
