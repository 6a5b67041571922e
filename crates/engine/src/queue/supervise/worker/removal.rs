//! Removing the workspace of a task that is settled.

use super::{
    clean::discard_abandoned,
    place::{Place, author, message, root, with_source},
    workspace::unsaved,
};
use crate::Context;
use shuntyard_core::{
    values::Deliver,
    work::task::{Phase, Place as Where, Task},
};
use shuntyard_host::git::{GitError, Uncommitted};

/// Removes what is not needed any more: the workspace once its work is delivered, or when there is none in it.
pub(super) async fn tidy(context: &Context, task: &Task) -> Result<String, String> {
    if task.spec.place == Where::Directory {
        return Ok("it was done in place".to_owned());
    }
    let runs = context.store.runs(&task.id).await.map_err(|error| error.to_string())?;
    let Some(place) = Place::of_run(task, &runs) else { return Ok("it had no place".to_owned()) };
    let (task, root) = (task.clone(), root(context, task));
    let left = tokio::task::spawn_blocking(move || {
        let git = place.git()?;
        discard_abandoned(&git, &root, &task);
        let is_done = task.state.phase() == Phase::Done;
        // When its directory is gone, also by a removal that was cut off, its archive may have what is nowhere else.
        git.revive_workspace(&place.directory, &place.owner)?;
        if let Some(workspace) = git.open_workspace(&place.directory, &place.owner)? {
            let author = author(&git, &place.repository);
            let collected = workspace.collect(&message(&task, "What was left uncommitted"), &author)?;
            let base = workspace.record.base.clone();
            // What was settled on before is what was delivered; an agent may have added to it since. When other commits
            // were delivered for it, or this is a removal that was cut off, nothing here counts as delivered.
            let settled = collected.before.unwrap_or_else(|| base.clone());
            let delivered = git.delivered_objects(&place.repository, &place.owner, &settled)?;
            if !is_done && (collected.head != base || workspace.has_other_tips(&base)?) {
                return Ok(format!("{} stays: its work is nowhere else", place.directory.display()));
            }
            let is_delivered = is_done && delivered.as_ref() == Some(&settled);
            workspace.keep_others(&place.repository, if is_delivered { &settled } else { &base })?;
            if let Some(changed) = unsaved(&workspace)? {
                return Ok(format!("{} stays: {changed}", place.directory.display()));
            }
            workspace.remove()?;
        } else if let Some(linked) = place.linked().filter(|_| place.is_linked()) {
            if !is_done {
                return Ok(format!("{} stays: its work is nowhere else", place.directory.display()));
            }
            let (text, author) = (message(&task, "What was left uncommitted"), author(&git, &place.repository));
            if let Some(taken) = linked.take_over(&git, Uncommitted::Work, &text, &author)? {
                linked.keep(&git, &taken.work)?;
                linked.forget(&git)?;
            }
        } else if place.directory.symlink_metadata().is_err() {
            git.discard_workspace(&place.directory)?;
        }
        git.forget_workspace(&place.repository, &place.owner)?;
        if is_done && task.spec.deliver != Deliver::Branch {
            git.withdraw_branches(&place.repository, &place.owner, &task.spec.base)?;
        }
        Ok::<_, GitError>("its workspace is removed".to_owned())
    });
    match left.await {
        Ok(Ok(said)) => Ok(said),
        Ok(Err(error)) => Err(format!("failed to {}", with_source(&error))),
        Err(error) => Err(error.to_string()),
    }
}
