//! The real OpenCode binary for tests: the one that `SWITCHYARD_OPENCODE_BIN` names, or the pinned one,
//! installed from npm by name into the build directory and reused by later runs.

use std::{
    path::{Path, PathBuf},
    sync::OnceLock,
};
use switchyard_host::npm::install_opencode;

pub const VERSION: &str = "1.18.33";

/// A test that needs OpenCode fails when it cannot be had; it is never skipped.
pub fn binary(installs: &Path) -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY
        .get_or_init(|| match std::env::var_os("SWITCHYARD_OPENCODE_BIN") {
            Some(path) if !path.is_empty() => PathBuf::from(path),
            _ => install_opencode(installs, VERSION, &[], &mut |_| {})
                .unwrap_or_else(|error| panic!("these tests need OpenCode {VERSION}: {error}")),
        })
        .clone()
}
