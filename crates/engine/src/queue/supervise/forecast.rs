//! Conflicts that are coming: branches that are ready or at work, tried against each other and against their base
//! without touching any of them.

use super::{
    change::ChangeError,
    worker::{git, owner_of},
};
use crate::Context;
use serde::Serialize;
use shuntyard_core::work::task::{Delivered, State, TaskId};
use shuntyard_host::git::Forecast;
use std::{
    collections::BTreeMap,
    ffi::OsString,
    path::{Path, PathBuf},
};

/// Runs that are looked back at, and merges that are tried in one repository: each takes a few milliseconds.
const LOOKED_BACK: u32 = 60;
const TRIED: usize = 45;

/// Two pieces of work that cannot both go in as they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Conflict {
    pub task: TaskId,
    /// Another task, or the base branch.
    pub with: String,
    pub paths: Vec<String>,
}

/// Work that is ready or being done.
#[derive(Debug, Clone)]
struct Open {
    task: TaskId,
    base: String,
    head: Head,
}

#[derive(Debug, Clone)]
enum Head {
    /// In the repository.
    Commit(String),
    /// Whatever is checked out in the workspace of this owner.
    Workspace { directory: PathBuf, owner: String },
}

pub(super) async fn conflicts(context: &Context) -> Result<Vec<Conflict>, ChangeError> {
    let mut open: BTreeMap<String, Vec<Open>> = BTreeMap::new();
    let live = context.store.live_runs().await?;
    let ended = context.store.ended_runs(LOOKED_BACK).await?;
    for run in live.iter().chain(&ended).filter(|run| run.branch.is_some()) {
        let record = context.store.task(&run.task).await?;
        // At most one entry of a contest goes in, as the work of the contest.
        if record.task.spec.entry_of.is_some() {
            continue;
        }
        let head = match &record.task.state {
            State::Done { delivered: Delivered::Branch { head, .. } } | State::Review { head, .. } => {
                Head::Commit(head.clone())
            }
            state if state.is_held() => {
                let Some(directory) = run.worktree.as_ref().map(PathBuf::from) else { continue };
                Head::Workspace { directory, owner: owner_of(&record.task) }
            }
            _ => continue,
        };
        let known = open.entry(run.repository.clone()).or_default();
        if !known.iter().any(|other| other.task == run.task) {
            known.push(Open { task: run.task.clone(), base: record.task.spec.base.clone(), head });
        }
    }
    let looking = tokio::task::spawn_blocking(move || {
        open.into_iter().flat_map(|(repository, open)| within(Path::new(&repository), &open)).collect()
    });
    Ok(looking.await.unwrap_or_default())
}

/// What git cannot say is left out: this is a forecast.
fn within(repository: &Path, open: &[Open]) -> Vec<Conflict> {
    let mut git = git();
    let mut objects: Vec<PathBuf> = Vec::new();
    let mut heads: Vec<(&Open, String)> = Vec::new();
    for work in open {
        match &work.head {
            Head::Commit(commit) => heads.push((work, commit.clone())),
            Head::Workspace { directory, owner } => {
                let Ok(Some(workspace)) = git.open_workspace(directory, owner) else { continue };
                if let Ok(Some(commit)) = workspace.current_head() {
                    objects.push(workspace.git_dir().join("objects"));
                    heads.push((work, commit));
                }
            }
        }
    }
    let mut alternates = OsString::new();
    for directory in &objects {
        if !alternates.is_empty() {
            alternates.push(":");
        }
        alternates.push(directory);
    }
    git.variables.push(("GIT_ALTERNATE_OBJECT_DIRECTORIES".into(), alternates));
    let mut found = Vec::new();
    let mut tried = 0;
    let mut look = |task: &TaskId, with: String, theirs: &str, ours: &str| {
        tried += 1;
        if tried > TRIED {
            return;
        }
        if let Ok(Forecast::Conflict { paths, .. }) = git.merge_forecast(repository, theirs, ours) {
            let paths = paths.iter().map(|path| path.display().to_string()).collect();
            found.push(Conflict { task: task.clone(), with, paths });
        }
    };
    for (place, (work, head)) in heads.iter().enumerate() {
        look(&work.task, work.base.clone(), &work.base, head);
        for (other, theirs) in heads.iter().skip(place + 1) {
            look(&work.task, other.task.to_string(), theirs, head);
        }
    }
    found
}
