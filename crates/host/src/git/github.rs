//! Calls of the program `gh` in a repository.

use super::MISLEADING;
use crate::bounded;
use std::{path::Path, process::Command, time::Duration};

/// What `gh` prints, without the blanks around it. `search_path` replaces the variable `PATH`.
pub fn gh(repository: &Path, search_path: Option<&str>, deadline: Duration, args: &[&str]) -> Result<String, String> {
    let mut command = Command::new("gh");
    for name in MISLEADING {
        command.env_remove(name);
    }
    command.args(args).current_dir(repository).env("GH_PROMPT_DISABLED", "1").env("NO_COLOR", "1");
    if let Some(path) = search_path {
        command.env("PATH", path);
    }
    match bounded::run(&mut command, deadline) {
        Ok(finished) if finished.status.success() => Ok(String::from_utf8_lossy(&finished.stdout).trim().to_owned()),
        Ok(finished) => Err(format!("gh: {}", String::from_utf8_lossy(&finished.stderr).trim())),
        Err(error) => Err(format!("gh, which issues and pull requests need: failed to {error}")),
    }
}
