//! Installing OpenCode with the user's own npm, so that their proxy and registry settings count.
//!
//! Invariant: `TARGET/VERSION` exists only when the binary in it has run and reported that version. Everything before
//! that happens in a staging directory beside it, under a lock.

mod binary;
mod error;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::bounded::{self, Finished, RunError, wait_until};
use crate::clock::now_micros;
use crate::paths::private_dir;
pub use error::InstallError;

const DEADLINE: Duration = Duration::from_secs(5 * 60);
const STAGING: &str = ".staging-";

/// The native binary of that version, when it is installed. Cheap: it looks and runs nothing.
pub fn installed_opencode(target_dir: &Path, version: &str) -> Option<PathBuf> {
    check_version(version).ok()?;
    binary::find(&target_dir.join(version)).into_iter().next()
}

/// Installs that version unless it is there, and returns its native binary. `variables` are set on top of npm's
/// inherited environment; `progress` gets each step. Safe to call from two processes at once.
pub fn install_opencode(
    target_dir: &Path,
    version: &str,
    variables: &[(OsString, OsString)],
    progress: &mut dyn FnMut(&str),
) -> Result<PathBuf, InstallError> {
    check_version(version)?;
    if let Some(binary) = installed_opencode(target_dir, version) {
        return Ok(binary);
    }
    let npm = find_npm(variables)?;
    private_dir(target_dir).map_err(InstallError::disk(target_dir))?;
    let _lock = lock(target_dir, progress)?;
    // Another process may have installed it while this one waited.
    if let Some(binary) = installed_opencode(target_dir, version) {
        return Ok(binary);
    }
    remove_abandoned(target_dir);
    let staging = target_dir.join(format!("{STAGING}{version}-{}-{}", std::process::id(), now_micros()));
    private_dir(&staging).map_err(InstallError::disk(&staging))?;
    let result = fill(&staging, &npm, version, variables, progress)
        .and_then(|()| publish(&staging, &target_dir.join(version)))
        .and_then(|()| installed_opencode(target_dir, version).ok_or(InstallError::DidNotRun { reasons: Vec::new() }));
    if result.is_err() {
        let _ = fs::remove_dir_all(&staging);
    }
    result
}

/// The version becomes part of a path and of npm's command line.
fn check_version(version: &str) -> Result<(), InstallError> {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '+');
    let exact = version.starts_with(|first: char| first.is_ascii_digit()) && version.chars().all(plain);
    if exact { Ok(()) } else { Err(InstallError::Version(version.to_owned())) }
}

fn find_npm(variables: &[(OsString, OsString)]) -> Result<PathBuf, InstallError> {
    let path = variables.iter().rev().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
    let path = path.or_else(|| std::env::var_os("PATH"));
    which::which_in("npm", path, "/").map_err(|_| InstallError::NpmMissing)
}

fn lock(target_dir: &Path, progress: &mut dyn FnMut(&str)) -> Result<File, InstallError> {
    let path = target_dir.join(".install.lock");
    let file = File::options().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(InstallError::disk(&path))?;
    let mut told = false;
    let locked = wait_until(DEADLINE, || match file.try_lock() {
        Ok(()) => Ok(Some(())),
        Err(TryLockError::WouldBlock) => {
            if !std::mem::replace(&mut told, true) {
                progress("waiting for another installation of OpenCode");
            }
            Ok(None)
        }
        Err(TryLockError::Error(error)) => Err(error),
    });
    match locked.map_err(InstallError::disk(&path))? {
        Some(()) => Ok(file),
        None => Err(InstallError::Deadline { deadline: DEADLINE }),
    }
}

/// What an installer left that was killed. The lock shows that none is at work.
fn remove_abandoned(target_dir: &Path) {
    for entry in fs::read_dir(target_dir).into_iter().flatten().flatten() {
        if entry.file_name().to_string_lossy().starts_with(STAGING) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn fill(
    staging: &Path,
    npm: &Path,
    version: &str,
    variables: &[(OsString, OsString)],
    progress: &mut dyn FnMut(&str),
) -> Result<(), InstallError> {
    progress(&format!("installing opencode-ai {version} with npm"));
    let mut command = Command::new(npm);
    command.args(["install", "--prefix"]).arg(staging).arg(format!("opencode-ai@{version}"));
    // Its install script would only copy the native binary, which is used in its place here.
    command.args(["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--no-save", "--loglevel=error"]);
    command.current_dir(staging).envs(variables.iter().map(|(name, value)| (name, value)));
    match bounded::run(&mut command, DEADLINE) {
        Ok(Finished { status, .. }) if status.success() => {}
        Ok(Finished { status, stderr, .. }) => {
            return Err(error::npm_failed(status.code(), &String::from_utf8_lossy(&stderr)));
        }
        Err(RunError::Deadline { deadline, .. } | RunError::Idle { idle: deadline, .. }) => {
            return Err(InstallError::Deadline { deadline });
        }
        Err(RunError::Start(source) | RunError::Wait(source)) => return Err(InstallError::disk(npm)(source)),
        Err(error @ RunError::TooLarge { .. }) => return Err(InstallError::disk(npm)(io::Error::other(error))),
    }
    progress("checking that OpenCode runs");
    binary::keep_the_one_that_runs(staging, version)
}

fn publish(staging: &Path, place: &Path) -> Result<(), InstallError> {
    // Whatever is there has no binary in it, else it would have been taken for installed.
    match fs::remove_dir_all(place) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(InstallError::disk(place)(error)),
        _ => fs::rename(staging, place).map_err(InstallError::disk(place)),
    }
}
