//! The OpenCode binaries for tests: the real one, and the fake that starts in milliseconds.

use shuntyard_host::npm::install_opencode;
use std::{
    path::{Path, PathBuf},
    process::Command,
    sync::OnceLock,
};

pub const VERSION: &str = "1.18.33";

/// The real one: what `SHUNTYARD_OPENCODE_BIN` names, or the pinned version, installed from npm by name into the build
/// directory and reused by later runs. A test that needs OpenCode fails when it cannot be had; it is never skipped.
pub fn binary(installs: &Path) -> PathBuf {
    static BINARY: OnceLock<PathBuf> = OnceLock::new();
    BINARY
        .get_or_init(|| match std::env::var_os("SHUNTYARD_OPENCODE_BIN") {
            Some(path) if !path.is_empty() => PathBuf::from(path),
            _ => install_opencode(installs, VERSION, &[], &mut |_| {})
                .unwrap_or_else(|error| panic!("these tests need OpenCode {VERSION}: {error}")),
        })
        .clone()
}

/// The fake: what `SHUNTYARD_FAKE_OPENCODE_BIN` names, or the one of this build, brought up to date once for each test
/// process.
pub fn fake() -> PathBuf {
    static FAKE: OnceLock<PathBuf> = OnceLock::new();
    FAKE.get_or_init(|| match std::env::var_os("SHUNTYARD_FAKE_OPENCODE_BIN") {
        Some(path) if !path.is_empty() => PathBuf::from(path),
        _ => built(),
    })
    .clone()
}

/// Builds it where this test was built, as `target/debug/deps/<test>` is.
fn built() -> PathBuf {
    let test = std::env::current_exe().expect("the path of the test");
    let profile = test.ancestors().nth(2).expect("the directory of the profile");
    let target = profile.parent().expect("the target directory");
    let name = match profile.file_name().and_then(|name| name.to_str()) {
        Some("debug") | None => "dev",
        Some(name) => name,
    };
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    // Together with the binary under test, so that dependencies have the same features and are not compiled again.
    build.args(["build", "--quiet", "--profile", name, "-p", "shuntyard", "-p", "shuntyard-testkit"]);
    build.args(["--bin", "fake-opencode"]).env("CARGO_TARGET_DIR", target).current_dir(env!("CARGO_MANIFEST_DIR"));
    let status = build.status().expect("cargo starts");
    assert!(status.success(), "the fake OpenCode cannot be built");
    profile.join("fake-opencode")
}
