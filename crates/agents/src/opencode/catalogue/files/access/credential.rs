//! The key that OpenCode would send: the configured one, else that of the login, else that of the one variable.

use super::{
    super::{build::Sources, logins::Login},
    NoAccess, address,
    options::ProviderOptions,
};
use reqwest::{Url, header::HeaderValue};
use secrecy::SecretString;
use serde_json::Value;

/// The server of an organisation can change any provider, and the other logins are more than a key.
pub(super) fn plain(sources: &Sources<'_>, provider: &str) -> Result<(), NoAccess> {
    let organised = sources.logins.values().any(|login| *login == Login::WellKnown);
    let is_key = sources.logins.get(provider).is_none_or(|login| matches!(login, Login::Key(_)));
    if organised || !is_key { Err(NoAccess::Login) } else { Ok(()) }
}

/// The first source with an entry counts, even where the entry is empty: an empty `apiKey` keeps the
/// others from being asked, and so does an empty login.
pub(super) fn key(
    sources: &Sources<'_>,
    provider: &str,
    api_key: Option<&str>,
    login: Option<&Value>,
) -> Result<Option<SecretString>, NoAccess> {
    let stored = login.filter(|_| sources.logins.contains_key(provider)).and_then(|login| login.get("key")?.as_str());
    let key = api_key.or(stored).or_else(|| match sources.env(provider) {
        // Which of several variables holds the key is only known to code of OpenCode's own.
        [name] => sources.places.variable(name),
        _ => None,
    });
    // White space at the end of a header is not sent.
    let key = key.map(str::trim_end).filter(|key| !key.is_empty());
    if key.is_some_and(|key| HeaderValue::from_str(key).is_err()) {
        return Err(NoAccess::NoKey);
    }
    Ok(key.map(SecretString::from))
}

/// Whether a request without a key would only be refused: a source for one exists, the address is not loopback, and no
/// header has a credential.
pub(super) fn is_missed(
    sources: &Sources<'_>,
    provider: &str,
    options: &ProviderOptions,
    headers: &[(String, SecretString)],
    url: &Url,
) -> bool {
    let wanted =
        options.api_key.is_some() || sources.logins.contains_key(provider) || !sources.env(provider).is_empty();
    let lets_in = |name: &str| ["authorization", "key", "token"].iter().any(|word| name.contains(word));
    wanted && !address::is_loopback(url) && !headers.iter().any(|(name, _)| lets_in(name))
}
