//! Repositories and workspaces of tasks that were begun under the program's former name, Switchyard.
//!
//! Invariant: the mark in the data directory goes last, so an adoption that was cut off or that failed begins again,
//! and nothing is renamed below a task that a process of the former name still works on.

use super::worker::{git, worktrees};
use crate::{Context, base::owner::is_gone};
use shuntyard_host::{
    former_name::pending_mark,
    git::{Git, GitError},
};
use shuntyard_store::{StoreError, TaskFilter};
use std::{
    collections::BTreeSet,
    fs, io,
    path::{Path, PathBuf},
};

#[derive(Debug, thiserror::Error)]
pub enum AdoptError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("remove {}", path.display())]
    Mark { path: PathBuf, source: io::Error },
    #[error("end the renaming of repositories")]
    Interrupted(#[from] tokio::task::JoinError),
}

/// Renames what the tasks of this store have in repositories, if that is still to be done. Returns messages for the
/// user.
pub async fn adopt_repositories(context: &Context) -> Result<Vec<String>, AdoptError> {
    let mark = pending_mark(&context.paths.data_dir);
    if !mark.exists() {
        return Ok(Vec::new());
    }
    let at_work = context.store.live_runs().await?;
    if let Some(run) = at_work.iter().find(|run| run.worker.as_ref().is_some_and(|worker| !is_gone(worker))) {
        let task = &run.task;
        return Ok(vec![format!(
            "{task} is still worked on by the program of the former name; refs are renamed after that"
        )]);
    }
    let mut repositories = BTreeSet::new();
    let mut filter = TaskFilter { phase: None, batch: None, repository: None, after: 0, limit: 500 };
    loop {
        let page = context.store.tasks(&filter).await?;
        let Some(last) = page.last() else { break };
        filter.after = last.number;
        repositories.extend(page.into_iter().map(|record| PathBuf::from(record.task.spec.repository)));
    }
    let worktrees = worktrees(context);
    let path = mark.clone();
    let adopted = tokio::task::spawn_blocking(move || adopt_once(&mark, &repositories, &worktrees)).await?;
    adopted.map_err(|source| AdoptError::Mark { path, source })
}

/// The mark is the lock: of several commands that start at the same time, one renames and the others find it done.
fn adopt_once(mark: &Path, repositories: &BTreeSet<PathBuf>, worktrees: &Path) -> io::Result<Vec<String>> {
    let lock = match fs::File::open(mark) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        opened => opened?,
    };
    lock.lock()?;
    if !mark.exists() {
        return Ok(Vec::new());
    }
    let failures = adopt(repositories, worktrees);
    if failures.is_empty() {
        fs::remove_file(mark)?;
    }
    Ok(failures)
}

/// A repository that is gone has nothing to rename; one that cannot be changed is named.
fn adopt(repositories: &BTreeSet<PathBuf>, worktrees: &Path) -> Vec<String> {
    let git = git();
    let mut failures = Vec::new();
    let mut failed = |path: &Path, error: &GitError| {
        failures.push(format!("refs of the former name stay in {}: {error}", path.display()));
    };
    for repository in repositories.iter().filter(|repository| repository.join(".git").exists()) {
        git.adopt_former_names(repository).unwrap_or_else(|error| failed(repository, &error));
    }
    for place in entries(worktrees).iter().flat_map(|of_repository| entries(of_repository)) {
        for (git_dir, work_tree) in [(place.join(".git"), Some(place.as_path())), (place.join("archive"), None)] {
            if git_dir.is_dir() && !git_dir.is_symlink() {
                adopt_bound(&git, &git_dir, work_tree).unwrap_or_else(|error| failed(&git_dir, &error));
            }
        }
    }
    failures
}

/// An agent may have written into this repository, so git acts on it alone.
fn adopt_bound(git: &Git, git_dir: &Path, work_tree: Option<&Path>) -> Result<(), GitError> {
    git.bound_to(git_dir, work_tree)?.adopt_former_names(work_tree.unwrap_or(git_dir))
}

fn entries(directory: &Path) -> Vec<PathBuf> {
    fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}
