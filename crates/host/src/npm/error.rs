//! Why an installation failed, worded so that the reader knows what to do next.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

const BY_HAND: &str = "or install OpenCode by hand and name its binary in SHUNTYARD_OPENCODE_BIN";

#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    #[error("install OpenCode: there is no npm on the PATH. Install Node.js with npm, {BY_HAND}")]
    NpmMissing,
    #[error(
        "install OpenCode: npm could not reach its registry ({code}). Check the network and npm's proxy settings, {BY_HAND}"
    )]
    Unreachable { code: String },
    /// `status` is absent when a signal ended npm.
    #[error("install OpenCode: npm failed: {stderr}")]
    Failed { status: Option<i32>, stderr: String },
    #[error("run the OpenCode that npm installed{}", listed(reasons))]
    DidNotRun { reasons: Vec<String> },
    #[error("install OpenCode within {} s. Check the network, {BY_HAND}", deadline.as_secs())]
    Deadline { deadline: Duration },
    #[error("install OpenCode {0:?}: name one exact version, such as 1.2.3")]
    Version(String),
    #[error("install OpenCode: {}: {source}", path.display())]
    Disk { path: PathBuf, source: io::Error },
}

impl InstallError {
    pub(super) fn disk(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Disk { path, source }
    }
}

fn listed(reasons: &[String]) -> String {
    if reasons.is_empty() {
        ": it has no binary for this machine".to_owned()
    } else {
        format!(": {}", reasons.join("; "))
    }
}

/// Codes of the network and of a certificate that the network's proxy has replaced.
const NETWORK: [&str; 17] = [
    "ENOTFOUND",
    "ECONNREFUSED",
    "ECONNRESET",
    "ECONNABORTED",
    "ETIMEDOUT",
    "ESOCKETTIMEDOUT",
    "ERR_SOCKET_TIMEOUT",
    "EAI_AGAIN",
    "EAI_FAIL",
    "ENETUNREACH",
    "ENETDOWN",
    "EHOSTUNREACH",
    "EADDRNOTAVAIL",
    "EPROTO",
    "SELF_SIGNED_CERT_IN_CHAIN",
    "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
    "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
];

/// npm states its reason in a line such as `npm error code ECONNREFUSED`; older ones write `npm ERR! code …`.
pub(super) fn npm_failed(status: Option<i32>, stderr: &str) -> InstallError {
    let said = |line: &str| match line.split_whitespace().collect::<Vec<_>>()[..] {
        ["npm", _, "code", code] => Some(code.to_owned()),
        _ => None,
    };
    match stderr.lines().find_map(said) {
        Some(code) if NETWORK.contains(&code.as_str()) => InstallError::Unreachable { code },
        _ => InstallError::Failed { status, stderr: tail(stderr) },
    }
}

/// The last lines, where npm sums up; a whole log does not help.
fn tail(stderr: &str) -> String {
    let lines: Vec<&str> = stderr.trim().lines().collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}
