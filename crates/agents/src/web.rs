//! What every HTTP client of ours shares: one TLS provider, and what counts as this machine.

use reqwest::Url;
use std::{net::IpAddr, sync::Once};

pub(crate) fn install_tls() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Fails only when a provider is installed already, which is just as good.
        drop(rustls::crypto::ring::default_provider().install_default());
    });
}

pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost") => true,
        Some(host) => {
            host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
        }
        None => false,
    }
}
