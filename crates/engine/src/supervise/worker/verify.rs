//! Making a receipt again: the same commit, the same commands, in a fresh checkout.

use super::{gather::run_check, place::git};
use crate::{Context, supervise::spawn::log_dir};
use serde::Serialize;
use std::path::PathBuf;
use switchyard_core::task::{Check, Receipt, TaskId};
use switchyard_host::{clock::now_micros, git::UnsavedWork, paths::private_dir};
use switchyard_store::StoreError;

/// What the second look has shown.
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
    let repository = PathBuf::from(&record.task.spec.repository);
    let scratch = log_dir(context, id).join(format!("verify-{}", now_micros()));
    let place =
        |error: &dyn std::fmt::Display| VerifyError::Place(format!("a fresh checkout could not be made: {error}"));
    if let Some(parent) = scratch.parent() {
        private_dir(parent).map_err(|error| place(&error))?;
    }
    let (from, to, commit) = (repository.clone(), scratch.clone(), head.commit.clone());
    let made = tokio::task::spawn_blocking(move || git().worktree_add_detached(&from, &to, &commit));
    made.await.map_err(|error| place(&error))?.map_err(|error| place(&error))?;
    let mut checks = Vec::new();
    let mut faults = Vec::new();
    for (number, command) in record.task.spec.verify.iter().enumerate() {
        let log = log_dir(context, id).join(format!("again.verify-{}", number + 1));
        match run_check(context, &record, command.clone(), scratch.clone(), log).await {
            Ok(check) => {
                if !check.exit.is_green() {
                    faults.push(format!("`{command}` ended with {}", check.exit.shown()));
                }
                checks.push(check);
            }
            Err(problem) => faults.push(problem),
        }
    }
    let (from, to, commit) = (repository, scratch, head.commit.clone());
    let tree = tokio::task::spawn_blocking(move || {
        let git = git();
        let tree = git.tree_of(&from, &commit).unwrap_or_default();
        // What the checks have left there is nobody's work.
        drop(git.worktree_remove(&from, &to, UnsavedWork::Discard));
        tree
    })
    .await
    .unwrap_or_default();
    if tree != head.tree {
        faults.push(format!("the receipt is about tree {}, and the commit has {tree}", head.tree));
    }
    if !receipt.good {
        faults.push("the receipt itself says that the work was not good".to_owned());
    }
    Ok(Verified { task: id.clone(), good: faults.is_empty(), faults, head: head.commit, tree, checks })
}
