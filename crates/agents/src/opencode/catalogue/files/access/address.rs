//! The base address of a provider, as OpenCode makes it out of what is written.

use super::{super::Places, NoAccess};
use reqwest::Url;
use std::net::IpAddr;

/// `written` may name variables as `${NAME}`; one that is not set leaves no address.
pub(super) fn base_url(written: &str, places: &Places) -> Result<Url, NoAccess> {
    let text = expanded(written, places).ok_or(NoAccess::NoBaseUrl)?;
    if text.trim().is_empty() {
        return Err(NoAccess::NoBaseUrl);
    }
    let url = Url::parse(text.trim()).map_err(|_| NoAccess::BadBaseUrl)?;
    // OpenCode puts the path behind a query or a second slash, where nothing finds it.
    let plain = matches!(url.scheme(), "http" | "https")
        && url.host_str().is_some()
        && url.username().is_empty()
        && url.password().is_none()
        && url.query().is_none()
        && url.fragment().is_none()
        && !url.path().ends_with("//");
    if plain { Ok(url) } else { Err(NoAccess::BadBaseUrl) }
}

pub(super) fn text(url: &Url) -> String {
    url.as_str().trim_end_matches('/').to_owned()
}

/// Whether it is this machine itself.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok_and(|address| address.to_canonical().is_loopback())
}

fn expanded(written: &str, places: &Places) -> Option<String> {
    let mut out = String::with_capacity(written.len());
    let mut rest = written;
    while let Some((before, behind)) = rest.split_once("${") {
        let (name, after) = behind.split_once('}')?;
        out.push_str(before);
        out.push_str(places.variables.get(name)?);
        rest = after;
    }
    out.push_str(rest);
    Some(out)
}
