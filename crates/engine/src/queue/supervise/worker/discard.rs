//! Discarding what a cancelled task has left: its workspace, and on demand the commits that were kept of it.
//!
//! Invariant: only a task that is cancelled, and whose worker has therefore ended, loses anything.

use super::{
    place::{Place, author, git, message, with_source},
    workspace::unsaved,
};
use crate::Context;
use serde::Serialize;
use shuntyard_core::work::task::{Phase, Task, TaskId};
use shuntyard_host::git::{Git, GitError, Uncommitted, Workspace, owned_namespace};
use std::path::PathBuf;

/// How much is discarded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discard {
    /// The workspace. What was committed in it, and what was not, is kept below refs of the task.
    Workspace,
    /// Those refs as well.
    Everything,
}

/// What a task has left.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Leftovers {
    pub worktree: Option<PathBuf>,
    pub uncommitted: Vec<String>,
    pub commits: Vec<String>,
    /// Where kept commits are in the user's repository, and which.
    pub refs: String,
    pub kept: Vec<String>,
    /// Earlier workspaces that git could not collect. They go only together with everything else.
    pub aside: Vec<PathBuf>,
}

#[derive(Debug, thiserror::Error)]
pub enum DiscardError {
    #[error("look at {task}: {why}")]
    Look { task: TaskId, why: String },
    #[error("discard the workspace of {task}: it is {phase}, and not cancelled")]
    InUse { task: TaskId, phase: Phase },
    #[error("keep what is in the workspace of {task}: {why}")]
    Kept { task: TaskId, why: String },
}

/// What discarding would remove. Only reads.
pub async fn leftovers(context: &Context, id: &TaskId) -> Result<Leftovers, DiscardError> {
    let looking = |why: String| DiscardError::Look { task: id.clone(), why };
    let Some((_, place)) = located(context, id).await.map_err(looking)? else { return Ok(Leftovers::default()) };
    let found = crate::in_thread(move || found_at(&place)).await.map_err(|error| looking(error.to_string()))?;
    found.map_err(|error| looking(with_source(&error)))
}

/// Removes what a cancelled task has left, and says what that was. Repeated, it finds nothing.
pub async fn discard(context: &Context, id: &TaskId, how: Discard) -> Result<Leftovers, DiscardError> {
    let looking = |why: String| DiscardError::Look { task: id.clone(), why };
    let Some((task, place)) = located(context, id).await.map_err(looking)? else { return Ok(Leftovers::default()) };
    if task.state.phase() != Phase::Cancelled {
        return Err(DiscardError::InUse { task: id.clone(), phase: task.state.phase() });
    }
    let done = crate::in_thread(move || {
        let mut found = found_at(&place)?;
        if how == Discard::Everything {
            for aside in found.aside.drain(..) {
                git().discard_workspace(&aside)?;
            }
        }
        let git = match place.git() {
            // Nothing is kept then, so nothing has to be written there.
            Err(GitError::NotThatRepository { .. }) if how == Discard::Everything && !place.is_linked() => {
                git().discard_workspace(&place.directory)?;
                return Ok(Leftovers { kept: Vec::new(), ..found });
            }
            git => git?,
        };
        remove(&git, &task, &place, how)?;
        Ok::<_, GitError>(Leftovers { kept: kept(&place)?, ..found })
    });
    let done = done.await.map_err(|error| looking(error.to_string()))?;
    done.map_err(|error| DiscardError::Kept { task: id.clone(), why: with_source(&error) })
}

/// The commits of a task that were not delivered and are kept in the user's repository, as far as that is there.
pub async fn kept_commits(context: &Context, id: &TaskId) -> Vec<String> {
    let Ok(Some((_, place))) = located(context, id).await else { return Vec::new() };
    crate::in_thread(move || kept(&place)).await.ok().and_then(Result::ok).unwrap_or_default()
}

/// Lets go of these commits.
pub async fn forget_kept(context: &Context, id: &TaskId) -> Result<(), DiscardError> {
    let looking = |why: String| DiscardError::Look { task: id.clone(), why };
    let Some((_, place)) = located(context, id).await.map_err(looking)? else { return Ok(()) };
    let done = crate::in_thread(move || place.git()?.discard_kept(&place.repository, &place.owner));
    done.await.map_err(|error| looking(error.to_string()))?.map_err(|error| looking(with_source(&error)))
}

async fn located(context: &Context, id: &TaskId) -> Result<Option<(Task, Place)>, String> {
    let record = context.store.task(id).await.map_err(|error| error.to_string())?;
    let runs = context.store.runs(id).await.map_err(|error| error.to_string())?;
    let place = Place::of_run(&record.task, &runs).filter(|place| place.branch.is_some());
    Ok(place.map(|place| (record.task, place)))
}

/// The commits of the task that are kept in the user's repository. When that is gone, none are.
fn kept(place: &Place) -> Result<Vec<String>, GitError> {
    match place.git() {
        Ok(git) => {
            let kept = git.kept_commits(&place.repository, &place.owner)?;
            Ok(kept.into_iter().map(|(_, commit)| commit).collect())
        }
        Err(GitError::NotThatRepository { .. }) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

fn found_at(place: &Place) -> Result<Leftovers, GitError> {
    let git = git().not_above(&place.repository);
    let mut found = Leftovers {
        refs: owned_namespace(&place.owner),
        kept: kept(place)?,
        aside: Workspace::left_aside(&place.directory),
        ..Leftovers::default()
    };
    if let Some(workspace) = git.open_workspace(&place.directory, &place.owner)? {
        let unsaved = workspace.unsaved()?;
        found.uncommitted = unsaved.uncommitted.iter().map(|path| path.display().to_string()).collect();
        found.commits = unsaved.commits;
        found.worktree = Some(place.directory.clone());
    } else if place.is_linked() {
        found.worktree = Some(place.directory.clone());
    } else {
        found.commits = git.archived_work(&place.directory, &place.owner)?.commits;
    }
    Ok(found)
}

fn remove(git: &Git, task: &Task, place: &Place, how: Discard) -> Result<(), GitError> {
    let (text, author) = (message(task, "What was left uncommitted"), author(git, &place.repository));
    if how == Discard::Workspace {
        // Its directory may be gone, and its archive not.
        git.revive_workspace(&place.directory, &place.owner)?;
    }
    if let Some(linked) = place.linked().filter(|_| place.is_linked()) {
        if let Some(taken) = linked.take_over(git, Uncommitted::Work, &text, &author)? {
            linked.keep(git, &taken.work)?;
            linked.forget(git)?;
            if let Some(why) = taken.stays {
                let wanted = format!("{} can be removed ({why})", place.directory.display());
                return Err(GitError::Unproven { command: "git worktree remove", wanted });
            }
        }
    } else if let Some(workspace) = git.open_workspace(&place.directory, &place.owner)? {
        if how == Discard::Workspace {
            workspace.collect(&text, &author)?;
            workspace.keep_everything(&place.repository)?;
            if let Some(why) = unsaved(&workspace)? {
                let wanted = format!("nothing is lost: {why}; copy it first, or discard it with --discard=all");
                return Err(GitError::Unproven { command: "the look at the workspace", wanted });
            }
        }
        workspace.remove()?;
    } else if place.directory.symlink_metadata().is_err() {
        // A removal that was cut off.
        git.discard_workspace(&place.directory)?;
    }
    if how == Discard::Everything {
        git.discard_kept(&place.repository, &place.owner)?;
    }
    git.forget_workspace(&place.repository, &place.owner)
}
