//! Why a line of TODO.md cannot be read or written. That another store or a person has it, or that the remote does not
//! answer, is no fault but an answer.

use crate::queue::supervise::{AddError, ChangeError};
use shuntyard_core::{
    todo::{ClaimError, CompleteError, EditError},
    work::task::TaskId,
};
use shuntyard_host::git::GitError;
use shuntyard_store::StoreError;
use std::{io, path::PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum ClaimFault {
    #[error("{} is not in a git repository", .0.display())]
    NoRepository(PathBuf),
    #[error("{} has no branch that its TODO.md could be shared on: check one out, or name one", .0.display())]
    NoBranch(PathBuf),
    #[error("{remote} has no branch {branch}: push it first")]
    NotShared { remote: String, branch: String },
    #[error("there is no TODO.md on {place}")]
    NoFile { place: String },
    #[error("TODO.md on {place} is {problem}")]
    BadFile { place: String, problem: &'static str },
    /// Never overwritten: it is a person's work.
    #[error("TODO.md in {} has changes that are not committed: commit them first", .0.display())]
    Dirty(PathBuf),
    #[error("`{0}` cannot stand behind `assignee:`: it has to be one word")]
    BadIdentity(String),
    #[error("{place} did not take the change to {id}, {tries} times in a row: {why}")]
    Rejected { place: String, id: TaskId, tries: u32, why: String },
    #[error("other processes have been at work on the claims of this repository for too long: {}", .0.display())]
    Busy(PathBuf),
    #[error("{place} cannot be asked: {why}")]
    Unreachable { place: String, why: String },
    #[error("`model:{name}` in TODO.md: {problem}")]
    BadModel { name: String, problem: String },
    #[error(transparent)]
    Claim(#[from] ClaimError),
    #[error(transparent)]
    Complete(#[from] CompleteError),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error("failed to {0}")]
    Git(#[from] GitError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Add(#[from] AddError),
    #[error(transparent)]
    Change(#[from] ChangeError),
    #[error("failed to write a draft of TODO.md: {0}")]
    Io(#[from] io::Error),
}
