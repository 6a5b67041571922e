//! Making a receipt again: the same commit, the same commands, in a fresh checkout.

use super::{
    clean::CleanCheckout,
    place::{Place, git, with_source},
};
use crate::Context;
use serde::Serialize;
use shuntyard_core::work::task::{Check, Receipt, TaskId};
use shuntyard_store::StoreError;
use std::path::PathBuf;

/// The result of the second check.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verified {
    pub task: TaskId,
    pub good: bool,
    /// What is not as the receipt says.
    pub faults: Vec<String>,
    pub head: String,
    pub tree: String,
    pub checks: Vec<Check>,
}

#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("{0} has no receipt yet: nothing has been evaluated")]
    NoReceipt(TaskId),
    #[error("{0} was done in place: there is no commit to look at again")]
    NoCommit(TaskId),
    #[error("{0}")]
    Place(String),
}

pub async fn verify(context: &Context, id: &TaskId) -> Result<Verified, VerifyError> {
    let record = context.store.task(id).await?;
    let receipt: Receipt = record
        .receipt
        .clone()
        .and_then(|receipt| serde_json::from_value(receipt).ok())
        .ok_or_else(|| VerifyError::NoReceipt(id.clone()))?;
    let Some(head) = receipt.findings.head.clone() else { return Err(VerifyError::NoCommit(id.clone())) };
    let runs = context.store.runs(id).await?;
    let place = Place::of_run(&record.task, &runs);
    let (repository, commit) = (PathBuf::from(&record.task.spec.repository), head.commit.clone());
    let delivered = tokio::task::spawn_blocking(move || {
        git().not_above(&repository).has_commit(&repository, &commit).unwrap_or(false)
    })
    .await;
    // What was not delivered is only in the workspace.
    let source = place.filter(|_| !delivered.unwrap_or(false));
    let clean = CleanCheckout::make(context, &record.task, source.as_ref(), &head.commit, "verify").await;
    let clean = clean.map_err(|error| {
        VerifyError::Place(format!("a clean checkout could not be made: failed to {}", with_source(&error)))
    })?;
    let mut faults = Vec::new();
    let checks = match clean.verify(context, &record, None, "again").await {
        Ok(checks) => checks,
        Err(problem) => {
            faults.push(problem);
            Vec::new()
        }
    };
    let red = checks.iter().filter(|check| !check.exit.is_green());
    faults.extend(red.map(|check| format!("`{}` ended with {}", check.command, check.exit.shown())));
    let (workspace, commit) = (clean.workspace.clone(), head.commit.clone());
    let tree =
        tokio::task::spawn_blocking(move || workspace.git().and_then(|git| git.tree_of(&workspace.directory, &commit)));
    let tree = tree.await.ok().and_then(Result::ok).unwrap_or_default();
    clean.remove().await;
    if tree != head.tree {
        faults.push(format!("the receipt is about tree {}, and the commit has {tree}", head.tree));
    }
    if !receipt.good {
        faults.push("the receipt itself says that the work was not good".to_owned());
    }
    Ok(Verified { task: id.clone(), good: faults.is_empty(), faults, head: head.commit, tree, checks })
}
