//! The native binaries inside an installed package: npm brings several, one fits this machine.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::InstallError;
use crate::bounded::{self, RunError};

const CHECK_DEADLINE: Duration = Duration::from_secs(30);

/// The fastest first: `baseline` is for processors without newer instructions, `musl` for systems without glibc.
const VARIANTS: [&str; 4] = ["", "-baseline", "-musl", "-baseline-musl"];

/// The binaries that are there and executable, best first.
pub(super) fn find(package: &Path) -> Vec<PathBuf> {
    let paths = VARIANTS.iter().map(|variant| directory(package, variant).join("bin/opencode"));
    paths.filter(|path| is_executable(path)).collect()
}

/// Removes all but the best variant that runs here and reports that version: each takes some 180 MB.
pub(super) fn keep_the_one_that_runs(package: &Path, version: &str) -> Result<(), InstallError> {
    let home = package.join(".check");
    let mut reasons = Vec::new();
    let kept = find(package).into_iter().find(|binary| match says(binary, &home) {
        Ok(answer) if answer == version => true,
        Ok(answer) => {
            reasons.push(format!("{} calls itself version {answer:?}", variant_name(binary)));
            false
        }
        Err(reason) => {
            reasons.push(format!("{} {reason}", variant_name(binary)));
            false
        }
    });
    remove(&home)?;
    let kept = kept.ok_or(InstallError::DidNotRun { reasons })?;
    for variant in VARIANTS {
        let other = directory(package, variant);
        if !kept.starts_with(&other) {
            remove(&other)?;
        }
    }
    Ok(())
}

/// Asked in an empty home, because even `--version` creates OpenCode's directories.
fn says(binary: &Path, home: &Path) -> Result<String, String> {
    let mut command = Command::new(binary);
    command.arg("--version").current_dir("/").env("HOME", home).env("OPENCODE_DISABLE_AUTOUPDATE", "1");
    for variable in ["XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME"] {
        command.env(variable, home.join(variable));
    }
    match bounded::run(&mut command, CHECK_DEADLINE) {
        Ok(done) if done.status.success() => Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned()),
        Ok(done) => Err(format!("ended with {}", done.status)),
        Err(RunError::Start(source) | RunError::Wait(source)) => Err(format!("cannot be started: {source}")),
        Err(error @ (RunError::Deadline { .. } | RunError::Idle { .. } | RunError::TooLarge { .. })) => {
            Err(format!("did not {error}"))
        }
    }
}

fn directory(package: &Path, variant: &str) -> PathBuf {
    let system = if cfg!(target_os = "macos") { "darwin" } else { "linux" };
    let processor = if cfg!(target_arch = "aarch64") { "arm64" } else { "x64" };
    package.join("node_modules").join(format!("opencode-{system}-{processor}{variant}"))
}

fn variant_name(binary: &Path) -> String {
    let name = binary.ancestors().nth(2).and_then(Path::file_name).unwrap_or_default();
    name.to_string_lossy().into_owned()
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|file| file.is_file() && file.permissions().mode() & 0o111 != 0)
}

fn remove(directory: &Path) -> Result<(), InstallError> {
    match fs::remove_dir_all(directory) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(InstallError::disk(directory)(error)),
        _ => Ok(()),
    }
}
