//! Conflicts that are coming: branches that are ready or at work, tried against each other and against their base
//! without touching any of them.

use super::{change::ChangeError, worker::git};
use crate::Context;
use serde::Serialize;
use std::{collections::BTreeMap, path::PathBuf};
use switchyard_core::task::{Delivered, State, TaskId, TaskSpec};
use switchyard_host::git::Forecast;

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

pub(super) async fn conflicts(context: &Context) -> Result<Vec<Conflict>, ChangeError> {
    let mut branches: BTreeMap<String, Vec<(TaskId, String)>> = BTreeMap::new();
    let live = context.store.live_runs().await?;
    let ended = context.store.ended_runs(LOOKED_BACK).await?;
    for run in live.iter().chain(&ended).filter(|run| run.branch.is_some()) {
        let record = context.store.task(&run.task).await?;
        let open = match &record.task.state {
            State::Done { delivered } => matches!(delivered, Delivered::Branch { .. }),
            State::Review { .. } => true,
            state => state.is_held(),
        };
        let known = branches.entry(run.repository.clone()).or_default();
        if open && !known.iter().any(|(id, _)| *id == run.task) {
            known.push((run.task.clone(), record.task.spec.base.clone()));
        }
    }
    let looking = tokio::task::spawn_blocking(move || {
        branches.into_iter().flat_map(|(repository, tasks)| within(&PathBuf::from(repository), &tasks)).collect()
    });
    Ok(looking.await.unwrap_or_default())
}

/// What git cannot say is left out: this is a forecast.
fn within(repository: &std::path::Path, tasks: &[(TaskId, String)]) -> Vec<Conflict> {
    let git = git();
    let mut found = Vec::new();
    let mut tried = 0;
    let mut look = |task: &TaskId, with: String, theirs: &str| {
        tried += 1;
        if tried > TRIED {
            return;
        }
        if let Ok(Forecast::Conflict { paths }) = git.merge_forecast(repository, theirs, &TaskSpec::branch(task)) {
            let paths = paths.iter().map(|path| path.display().to_string()).collect();
            found.push(Conflict { task: task.clone(), with, paths });
        }
    };
    for (place, (task, base)) in tasks.iter().enumerate() {
        look(task, base.clone(), base);
        for (other, _) in tasks.iter().skip(place + 1) {
            look(task, other.to_string(), &TaskSpec::branch(other));
        }
    }
    found
}
