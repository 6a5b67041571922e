//! After an attempt: what the agent left becomes commits.

use super::{
    gather::{secrets_between, secrets_of},
    place::{Place, author, git, message, with_source},
};
use shuntyard_core::work::task::{End, Task};
use shuntyard_host::git::{Author, Collected, GitError, Workspace};

/// What is wrong with work that was collected.
#[derive(Debug, Default)]
pub(super) struct Flaws {
    /// Commits that were not made for the task.
    pub(super) foreign: Vec<String>,
    /// Files in which work on an older commit contradicts the base.
    pub(super) conflicts: Vec<String>,
    /// An operation that has not applied all of its commits.
    pub(super) unfinished: Option<String>,
}

/// Collects what the agent left.
pub(super) async fn keep_work(task: &Task, place: &Place) -> Result<Flaws, End> {
    if place.branch.is_none() {
        return Ok(Flaws::default());
    }
    let (task, place) = (task.clone(), place.clone());
    let kept = tokio::task::spawn_blocking(move || {
        let workspace = place.workspace()?;
        let author = author(&git(), &place.repository);
        let collected = workspace.collect(&message(&task, "What the agent left uncommitted"), &author)?;
        forget_secrets(&task, &workspace, &collected.head, &author)?;
        let foreign = without_delivered(&workspace, &place, collected.foreign)?;
        Ok::<_, GitError>(Collected { foreign, ..collected })
    });
    match kept.await {
        // The next attempt goes on from what was there.
        Ok(Ok(collected)) if collected.rebuilt => Err(End::RepositoryLost),
        Ok(Ok(Collected { foreign, conflicts, unfinished, .. })) => {
            let conflicts = conflicts.iter().map(|path| path.display().to_string()).collect();
            Ok(Flaws { foreign, conflicts, unfinished })
        }
        Ok(Err(GitError::NotThatRepository { .. })) => Err(End::RepositoryLost),
        Ok(Err(error)) => {
            let message = format!("the work could not be committed: failed to {}", with_source(&error));
            Err(End::NotStarted { message })
        }
        Err(error) => Err(End::NotStarted { message: error.to_string() }),
    }
}

/// What was delivered for an earlier attempt is the task's own work, although the user's repository has it since.
fn without_delivered(workspace: &Workspace, place: &Place, foreign: Vec<String>) -> Result<Vec<String>, GitError> {
    let (own, plain) = (workspace.git()?, git());
    let mut left = Vec::new();
    // The newest come first, and what was delivered contains all that is older.
    let mut delivered: Vec<String> = Vec::new();
    for commit in foreign {
        if plain.delivered_objects(&place.repository, &place.owner, &commit)?.is_some() {
            delivered.push(commit);
            continue;
        }
        let mut is_part = false;
        for newer in &delivered {
            is_part |= own.is_ancestor(&workspace.directory, &commit, newer)?;
        }
        if !is_part {
            left.push(commit);
        }
    }
    Ok(left)
}

/// A secret that an earlier attempt left, and that is deleted by now, must not go along in the history.
fn forget_secrets(task: &Task, workspace: &Workspace, head: &str, author: &Author) -> Result<(), GitError> {
    let (git, top, base) = (workspace.git()?, &workspace.directory, &workspace.record.base);
    let commits = git.commits_between(top, base, head)?;
    let in_history = !secrets_of(&git, top, &commits)?.is_empty();
    if in_history && secrets_between(&git, top, base, head)?.is_empty() {
        workspace.squash(&message(task, "In one commit: an earlier one had a secret in it"), author)?;
    }
    Ok(())
}
