//! `shuntyard task diff`: the work of a task as a unified diff, from where it started to the commit of its receipt.

use super::{document::Whole, find};
use crate::{
    cli::{Global, input},
    failure::Failure,
    ui::{self, Format},
};
use serde_json::json;
use shuntyard_core::work::task::{Receipt, TaskId};
use shuntyard_host::git::Git;
use std::{path::PathBuf, process::ExitCode};

pub async fn run(global: &Global, id: &TaskId) -> Result<ExitCode, Failure> {
    let context = global.context().await?;
    let whole = Whole::of(&context, find(&context, id).await?).await?;
    let receipt = whole.record.receipt.clone().and_then(|receipt| serde_json::from_value::<Receipt>(receipt).ok());
    let Some((Some(base), Some(commit))) = receipt.map(|receipt| (receipt.base, receipt.commit)) else {
        let message = format!("no work of {id} was collected yet");
        return Err(Failure::refused(message, format!("see `shuntyard task why {id}`")));
    };
    // What was delivered is in the repository; the rest is still in the workspace alone.
    let places = [Some(whole.record.task.spec.repository.as_str()), whole.worktree()];
    let places: Vec<PathBuf> = places.into_iter().flatten().map(PathBuf::from).collect();
    let range = format!("{base}..{commit}");
    let diff = input::in_thread(move || {
        let git = Git::default();
        let has = |place: &&PathBuf| [&base, &commit].into_iter().all(|wanted| git.commit_of(place, wanted).is_ok());
        let found = places.iter().find(has).map(|place| git.patch_of(place, &range)).transpose();
        found.map_err(|error| Failure::unavailable("git", error, "look into the repository of the task"))
    });
    let Some(diff) = diff.await? else {
        let message = format!("the commit of {id} is neither in its repository nor in its workspace any more");
        return Err(Failure::refused(message, format!("see `shuntyard task show {id}`")));
    };
    match global.format() {
        Format::Json => ui::json(&json!({ "id": id, "diff": String::from_utf8_lossy(&diff) })),
        // Unmodified: other programs apply it.
        Format::People => ui::bytes(&diff),
    }
    Ok(ExitCode::SUCCESS)
}
