//! Whether the credential of a provider is still the one that it was, determined without keeping it.
//!
//! Invariant: a stamp depends on what makes up this provider's credential and on nothing else, and shows none of it.

use super::{Places, layers, logins, substitute::Mark};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Changes when the provider's key, login or configured options change. `env_names` are the variables that may hold
/// its key.
#[must_use]
pub fn credential_stamp(places: &Places, provider: &str, env_names: &[String]) -> String {
    // An unreadable file is reported where the catalogue is read; here it is no credential.
    let mut problems = Vec::new();
    let logins = logins::entries(places, &mut problems);
    let login = logins.get(provider).map(login).unwrap_or_default();
    let config = layers::merged(places, Mark::Digest, &mut problems);
    let options = config.get("provider").and_then(|providers| providers.get(provider)?.get("options"));
    let options = options.map(ToString::to_string).unwrap_or_default();
    let mut parts = vec![provider, login.as_str(), options.as_str()];
    for name in env_names.iter().collect::<BTreeSet<_>>() {
        parts.extend(places.variable(name).map(|value| [name.as_str(), value]).into_iter().flatten());
    }
    digest("shuntyard: credential of a provider", &parts)
}

/// The tokens of a browser login are refreshed without an action of the user, which makes it no other login.
fn login(entry: &Value) -> String {
    if entry.get("type").and_then(Value::as_str) != Some("oauth") {
        return entry.to_string();
    }
    let refreshes = entry.get("refresh").and_then(Value::as_str).is_some_and(|token| !token.is_empty());
    format!("oauth {refreshes}")
}

/// Sixteen hexadecimal characters. The domain keeps them from being found in a list of hashes of known keys.
pub(super) fn digest(domain: &str, parts: &[&str]) -> String {
    let mut hash = Sha256::new();
    for part in [domain].iter().chain(parts) {
        // The length keeps two neighbours from being taken for two others.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
