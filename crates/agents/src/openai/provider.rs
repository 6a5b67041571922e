//! Where a provider is and how to be let in.
//!
//! Everything is parsed once, so that a request only copies. The key and the values of the headers leave this
//! file in the request and nowhere else.

use crate::{provider_error::presentable, web::is_loopback};
use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue},
};
use secrecy::{ExposeSecret, SecretString};
use std::fmt;

/// A shorter secret cannot be distinguished from an ordinary word.
const SHORTEST_SECRET: usize = 6;
/// Not the usual mask: its word would hide the word that follows.
const MASK: &str = "[key]";

#[derive(Clone)]
pub struct Provider {
    completions: Url,
    headers: HeaderMap,
    /// What must not come back in a message.
    secrets: Vec<SecretString>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadProvider {
    #[error("the base address is not one: write it like https://host/v1")]
    Address,
    #[error("the base address of {0} holds a password: give the key by itself")]
    PasswordInAddress(String),
    #[error("the key holds characters that no request can carry")]
    Key,
    #[error("the header `{0}` cannot be sent")]
    Header(String),
}

impl Provider {
    /// `base_url` is the part before `/chat/completions`; a query stays where it is. A header of the same name
    /// replaces the one that the key makes.
    pub fn new<'a>(
        base_url: &str,
        key: Option<&SecretString>,
        headers: impl IntoIterator<Item = (&'a str, &'a SecretString)>,
    ) -> Result<Self, BadProvider> {
        let completions = completions(base_url)?;
        let mut provider = Self { completions, headers: HeaderMap::new(), secrets: Vec::new() };
        if let Some(key) = key.filter(|key| !key.expose_secret().is_empty()) {
            let bearer = SecretString::from(format!("Bearer {}", key.expose_secret()));
            provider.carry(AUTHORIZATION, &bearer).ok_or(BadProvider::Key)?;
            provider.secrets.push(key.clone());
        }
        for (name, value) in headers {
            let bad = || BadProvider::Header(presentable(name));
            let name = HeaderName::try_from(name).map_err(|_| bad())?;
            provider.carry(name, value).ok_or_else(bad)?;
            provider.secrets.push(value.clone());
        }
        provider.secrets.retain(|secret| secret.expose_secret().len() >= SHORTEST_SECRET);
        // The longest first: a secret may be a part of another.
        provider.secrets.sort_by_key(|secret| std::cmp::Reverse(secret.expose_secret().len()));
        Ok(provider)
    }

    fn carry(&mut self, name: HeaderName, value: &SecretString) -> Option<()> {
        let mut value = HeaderValue::from_str(value.expose_secret()).ok()?;
        value.set_sensitive(true);
        self.headers.insert(name, value);
        Some(())
    }

    pub(super) fn completions(&self) -> &Url {
        &self.completions
    }

    pub(super) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Whether a request carries anything that could let it in.
    pub(super) fn has_credentials(&self) -> bool {
        let names = |word: &str| self.headers.keys().any(|name| name.as_str().contains(word));
        ["authorization", "key", "token"].into_iter().any(names)
    }

    /// The host with its port, which is all of the address that a message may show: a query can hold a key.
    pub(super) fn host(&self) -> String {
        host_of(&self.completions)
    }

    /// Whether it is this machine itself.
    pub(super) fn is_loopback(&self) -> bool {
        is_loopback(&self.completions)
    }

    /// Foreign words as people may see them. Providers like to repeat the key that they refuse, and not every key
    /// looks like one.
    pub(super) fn presentable(&self, message: &str) -> String {
        let mut clean = message.to_owned();
        for secret in &self.secrets {
            if clean.contains(secret.expose_secret()) {
                clean = clean.replace(secret.expose_secret(), MASK);
            }
        }
        presentable(&clean)
    }
}

impl fmt::Debug for Provider {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Provider").field("host", &self.host()).field("headers", &names).finish_non_exhaustive()
    }
}

pub(super) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or("no host");
    url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"))
}

fn completions(base_url: &str) -> Result<Url, BadProvider> {
    let mut url = Url::parse(base_url.trim()).map_err(|_| BadProvider::Address)?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(BadProvider::Address);
    }
    if url.password().is_some() || !url.username().is_empty() {
        return Err(BadProvider::PasswordInAddress(host_of(&url)));
    }
    url.set_fragment(None);
    url.path_segments_mut().map_err(|()| BadProvider::Address)?.pop_if_empty().extend(["chat", "completions"]);
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secret(text: &str) -> SecretString {
        SecretString::from(text.to_owned())
    }

    #[test]
    fn the_address_is_made_once_and_checked() {
        let table = [
            ("https://host/v1", Ok("https://host/v1/chat/completions")),
            ("https://host/v1/", Ok("https://host/v1/chat/completions")),
            (" http://127.0.0.1:8080 ", Ok("http://127.0.0.1:8080/chat/completions")),
            ("https://host/x?api-version=2", Ok("https://host/x/chat/completions?api-version=2")),
            ("https://me:pw@host:81/v1", Err(BadProvider::PasswordInAddress("host:81".into()))),
            ("ftp://host/v1", Err(BadProvider::Address)),
            ("host/v1", Err(BadProvider::Address)),
            ("", Err(BadProvider::Address)),
        ];
        for (base, expected) in table {
            let found = Provider::new(base, None, []).map(|provider| provider.completions.to_string());
            assert_eq!(found, expected.map(str::to_owned), "{base}");
        }
    }

    #[test]
    fn no_secret_is_shown() {
        let (key, header) = (secret("hunter2hunter2"), secret("correct horse battery"));
        let provider = Provider::new("https://host/v1?key=query-secret-1", Some(&key), [("x-pass", &header)]).unwrap();
        let shown = format!("{provider:?} {:?}", provider.headers());
        for secret in ["hunter2", "horse", "query-secret"] {
            assert!(!shown.contains(secret), "{shown}");
        }
        let echoed = provider.presentable("wrong: hunter2hunter2, correct horse battery\nand <correct horse battery>");
        assert_eq!(echoed, "wrong: [key], [key] and <[key]>");
        let bad = Provider::new("https://host/v1", Some(&secret("line\nbreak-secret")), []).unwrap_err();
        assert!(!format!("{bad} {bad:?}").contains("secret"));
    }

    #[test]
    fn credentials_and_loopback_are_recognised() {
        let with = |base: &str, key: Option<&str>| Provider::new(base, key.map(secret).as_ref(), []).unwrap();
        assert!(with("http://h", Some("k")).has_credentials());
        assert!(!with("http://h", Some("")).has_credentials());
        assert!(!with("http://h", None).has_credentials());
        let own = secret("value");
        assert!(Provider::new("http://h", None, [("x-api-key", &own)]).unwrap().has_credentials());
        for (base, expected) in [("http://localhost:1", true), ("http://[::1]:1", true), ("http://10.0.0.1", false)] {
            assert_eq!(with(base, None).is_loopback(), expected, "{base}");
        }
    }
}
