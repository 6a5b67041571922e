//! What tasks that are over have left on the disk: their logs, and the workspaces of cancelled ones.
//!
//! Invariant: only tasks that are done or cancelled are looked at, and a workspace goes only by way of `discard`, which
//! keeps its commits and its uncommitted files in the user's repository first. Commits that are kept there go only on
//! demand, and only those of tasks that are done.

use super::{ChangeError, Discard, discard, forget_kept, kept_commits, spawn::log_dir};
use crate::{Context, in_thread};
use shuntyard_core::work::task::{Phase, Place, TaskId};
use shuntyard_store::TaskFilter;
use std::path::{Path, PathBuf};

const PAGE: u32 = 500;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prunable {
    pub id: TaskId,
    pub phase: Phase,
    pub changed_at: i64,
    pub logs: Option<PathBuf>,
    pub worktree: Option<PathBuf>,
    /// Of both together.
    pub bytes: u64,
    /// Commits of a task that is done which were not delivered, and are kept in its repository.
    pub kept: Vec<String>,
}

/// Whether commits that were not delivered go as well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commits {
    Kept,
    Undelivered,
}

/// Tasks that were over before a moment and have left something, in the order in which they were added.
pub async fn prunable(context: &Context, before: i64, commits: Commits) -> Result<Vec<Prunable>, ChangeError> {
    let mut found = Vec::new();
    for phase in [Phase::Done, Phase::Cancelled] {
        let mut filter = TaskFilter { phase: Some(phase), limit: PAGE, ..TaskFilter::default() };
        loop {
            let page = context.store.tasks(&filter).await?;
            let Some(last) = page.last() else { break };
            filter.after = last.number;
            for record in page.iter().filter(|record| record.task.changed_at < before) {
                let task = &record.task;
                let newest = context.store.runs(&task.id).await?.into_iter().rev().find_map(|run| run.worktree);
                let own = phase == Phase::Cancelled && task.spec.place == Place::Worktree;
                let worktree = newest.filter(|_| own).map(PathBuf::from).filter(|path| path.is_dir());
                let logs = Some(log_dir(context, &task.id)).filter(|path| path.is_dir());
                let kept = if phase == Phase::Done && commits == Commits::Undelivered {
                    kept_commits(context, &task.id).await
                } else {
                    Vec::new()
                };
                if logs.is_none() && worktree.is_none() && kept.is_empty() {
                    continue;
                }
                let places: Vec<PathBuf> = [&logs, &worktree].into_iter().flatten().cloned().collect();
                let sized = in_thread(move || places.iter().map(|place| bytes_of(place)).sum()).await;
                let (id, changed_at) = (task.id.clone(), task.changed_at);
                found.push(Prunable { id, phase, changed_at, logs, worktree, bytes: sized.unwrap_or(0), kept });
            }
        }
    }
    Ok(found)
}

/// Removes what was found. Repeated, it finds nothing.
pub async fn prune(context: &Context, found: &Prunable) -> Result<(), String> {
    if found.worktree.is_some() {
        discard(context, &found.id, Discard::Workspace).await.map_err(|error| format!("failed to {error}"))?;
    }
    if !found.kept.is_empty() {
        forget_kept(context, &found.id).await.map_err(|error| format!("failed to {error}"))?;
    }
    match &found.logs {
        Some(logs) => std::fs::remove_dir_all(logs).map_err(|error| format!("{}: {error}", logs.display())),
        None => Ok(()),
    }
}

/// Links are not followed.
fn bytes_of(path: &Path) -> u64 {
    let Ok(about) = path.symlink_metadata() else { return 0 };
    if !about.is_dir() {
        return about.len();
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| bytes_of(&entry.path())).sum()
}
