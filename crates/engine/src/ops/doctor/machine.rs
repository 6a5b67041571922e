//! What does not come from OpenCode: the store and its directory, git, and npm.

use super::{Area, Finding, Patient};
use crate::{Context, base::owner::is_gone};
use shuntyard_host::git::{Git, GitError};
use std::{
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    time::Duration,
};

const GIT: Duration = Duration::from_secs(10);
const MOST: u32 = 1000;

pub(super) async fn store(patient: &Patient<'_>) -> Vec<Finding> {
    let database = match &patient.context {
        Ok(context) => database(context).await,
        Err(trouble) => Finding::problem(Area::Store, "database", &trouble.problem).mended_by(&trouble.fix),
    };
    vec![database, directory(&patient.paths.data_dir)]
}

async fn database(context: &Context) -> Finding {
    let place = context.store_path.display();
    match context.store.unfinished_dispatches(MOST).await {
        Ok(unfinished) => {
            let abandoned = unfinished.iter().filter(|dispatch| is_gone(&dispatch.owner)).count();
            let running = unfinished.len() - abandoned;
            let mut detail = format!("{place}, {}", counted(running, "dispatch is running", "dispatches are running"));
            if abandoned > 0 {
                let left = counted(abandoned, "was left", "were left");
                detail.push_str(&format!("; {left} by processes that died, and the next dispatch settles that"));
            }
            Finding::ok(Area::Store, "database", detail)
        }
        Err(error) => Finding::problem(Area::Store, "database", format!("{place} cannot be read: {error}"))
            .mended_by("export SHUNTYARD_STORE=sqlite:/another/path.db"),
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    match count {
        0 => format!("no {one}"),
        1 => format!("1 {one}"),
        _ => format!("{count} {many}"),
    }
}

fn directory(path: &Path) -> Finding {
    match std::fs::metadata(path) {
        Ok(meta) if meta.permissions().mode() & 0o077 == 0 => {
            Finding::ok(Area::Store, "directory", format!("{}, closed to other users", path.display()))
        }
        Ok(meta) => {
            let mode = meta.permissions().mode() & 0o777;
            let detail = format!("{} is open to other users (mode {mode:o})", path.display());
            Finding::warning(Area::Store, "directory", detail).mended_by(format!("chmod 700 {}", quoted(path)))
        }
        Err(error) => {
            Finding::warning(Area::Store, "directory", format!("{} cannot be looked at: {error}", path.display()))
        }
    }
}

/// A path as a shell takes it.
#[must_use]
pub fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let plain = text.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-+@%:,=".contains(letter));
    if plain { text } else { format!("'{}'", text.replace('\'', "'\\''")) }
}

pub(super) async fn tools(patient: &Patient<'_>, has_binary: bool) -> Vec<Finding> {
    let asked = tokio::task::spawn_blocking(|| Git { idle_deadline: GIT, ..Git::default() }.version()).await;
    let git = match asked {
        Ok(Ok(version)) => Finding::ok(Area::Machine, "git", version),
        Ok(Err(GitError::Missing)) => {
            let detail = "not found: install it, or no task can have a worktree of its own";
            Finding::problem(Area::Machine, "git", detail)
        }
        Ok(Err(error)) => Finding::problem(Area::Machine, "git", format!("failed to {error}")),
        Err(error) => Finding::problem(Area::Machine, "git", error.to_string()),
    };
    let search_path = patient.environment.get("PATH").map_or("", String::as_str);
    let npm = match (find(search_path, "npm"), has_binary) {
        (Some(path), _) => Finding::ok(Area::Machine, "npm", path.display().to_string()),
        (None, true) => Finding::ok(Area::Machine, "npm", "not found; only `shuntyard opencode install` needs it"),
        (None, false) => {
            let detail = "not found: install Node.js, which brings npm, or OpenCode cannot be installed from here";
            Finding::warning(Area::Machine, "npm", detail)
        }
    };
    vec![git, npm]
}

fn find(search_path: &str, program: &str) -> Option<PathBuf> {
    let executable = |path: &PathBuf| {
        std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    std::env::split_paths(search_path).map(|directory| directory.join(program)).find(executable)
}
