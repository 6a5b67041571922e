//! A refused key excludes its provider for an hour, but not when the user has just renewed it: what was found out about
//! a key holds only for that key. A stamp of it, never the key itself, is kept beside the copies of the models.

use super::Known;
use crate::{Context, base::opencode_files::places};
use serde::{Deserialize, Serialize};
use shuntyard_agents::opencode::catalogue::credential_stamp;
use shuntyard_core::{routing::HealthStatus, values::Trigger};
use shuntyard_host::{
    clock::now_micros,
    paths::{private_dir, write_private},
};
use shuntyard_store::Result;
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// The credential that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Refused {
    stamp: String,
    /// The variables that may hold it.
    env: Vec<String>,
}

type Noted = BTreeMap<String, Refused>;

/// Notes which credential a provider has just refused.
pub(crate) fn note_refused_key(context: &Context, directory: &Path, provider: &str, env: &[String]) {
    let mut noted = read(context);
    let stamp = credential_stamp(&places(context, directory), provider, env);
    noted.insert(provider.to_owned(), Refused { stamp, env: env.to_vec() });
    let file = file(context);
    let written = file
        .parent()
        .map_or(Ok(()), private_dir)
        .and_then(|()| write_private(&file, &serde_json::to_vec(&noted).unwrap_or_default()));
    if let Err(error) = written {
        tracing::warn!(%error, "the stamp of a refused key could not be noted");
    }
}

/// Forgets findings about keys that are others now. Returns whether there were any.
pub(super) async fn forget_old_keys(context: &Context, directory: &Path, known: &Known) -> Result<bool> {
    let about_keys = |status| matches!(status, HealthStatus::KeyInvalid | HealthStatus::KeyMissing);
    let by_health = known.health.iter().filter(|row| about_keys(row.status)).map(|row| row.provider.as_str());
    let by_cooldown =
        known.cooldowns.iter().filter(|row| row.trigger == Trigger::AuthError).map(|row| row.target.as_str());
    let mut providers: Vec<&str> = by_health.chain(by_cooldown).collect();
    if providers.is_empty() {
        return Ok(false);
    }
    providers.sort_unstable();
    providers.dedup();
    let noted = read(context);
    let places = places(context, directory);
    let is_another = |provider: &&str| {
        noted.get(*provider).is_some_and(|refused| credential_stamp(&places, provider, &refused.env) != refused.stamp)
    };
    let renewed: Vec<&str> = providers.into_iter().filter(is_another).collect();
    for provider in &renewed {
        context.store.forget_health(Some(provider)).await?;
    }
    let now = now_micros();
    if !renewed.is_empty() {
        context.store.end_cooldowns(&renewed, now, now).await?;
    }
    Ok(!renewed.is_empty())
}

fn file(context: &Context) -> PathBuf {
    context.paths.data_dir.join("catalogues").join("refused-keys.json")
}

fn read(context: &Context) -> Noted {
    std::fs::read(file(context)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}
