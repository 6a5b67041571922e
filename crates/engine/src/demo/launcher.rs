//! A small script that starts this program with the demo's environment and no other variable.
//!
//! A keeper inherits the environment of the process that starts it, and hands it on to OpenCode: without
//! this, the user's keys, proxies and OpenCode settings would take part in the demo.

use super::{DemoError, Scratch};
use std::{
    collections::BTreeMap,
    fs::{self, Permissions},
    io,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Command,
    time::Duration,
};
use switchyard_host::bounded;

const LONGEST_TRY: Duration = Duration::from_secs(10);

/// Writes the script and sees that it runs: some machines allow no programs among temporary files.
pub(super) fn install(
    scratch: &Scratch,
    program: &Path,
    environment: &BTreeMap<String, String>,
) -> Result<PathBuf, DemoError> {
    let program =
        program.to_str().ok_or_else(|| DemoError::Scratch(io::Error::other("this program's path is no text")))?;
    let path = scratch.root().join("switchyard");
    let text = script(program, environment, &scratch.root().to_string_lossy());
    fs::write(&path, text).map_err(DemoError::Scratch)?;
    fs::set_permissions(&path, Permissions::from_mode(0o700)).map_err(DemoError::Scratch)?;
    match bounded::run(Command::new(&path).arg("--version"), LONGEST_TRY) {
        Ok(done) if done.status.success() => Ok(path),
        _ => Err(DemoError::NotExecutable(scratch.root().display().to_string())),
    }
}

/// It also leaves the caller's directory, whose repository may have settings of its own.
pub(super) fn script(program: &str, environment: &BTreeMap<String, String>, directory: &str) -> String {
    let variables: Vec<String> = environment.iter().map(|(name, value)| quoted(&format!("{name}={value}"))).collect();
    let (directory, program) = (quoted(directory), quoted(program));
    format!("#!/bin/sh\ncd {directory} || exit 1\nexec env -i {} {program} \"$@\"\n", variables.join(" "))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
