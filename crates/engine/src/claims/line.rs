//! Which line of which TODO.md is meant.

use super::{ClaimFault, write::usual_base};
use std::path::{Path, PathBuf};
use switchyard_core::task::{Task, TaskId};
use switchyard_host::repository::repository_of;

/// A task's line in the TODO.md at the top of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The top of the main working tree.
    pub repository: PathBuf,
    /// The branch that the file is shared on, or that the work starts from.
    pub base: String,
    /// What the file calls the task.
    pub todo: TaskId,
}

impl Line {
    /// The line that a task came from; most come from none.
    #[must_use]
    pub fn of(task: &Task) -> Option<Self> {
        let todo = task.spec.todo.clone()?;
        Some(Self { repository: PathBuf::from(&task.spec.repository), base: task.spec.base.clone(), todo })
    }

    /// The line of this id in the repository that a directory is in, whether the store knows the task or not.
    pub async fn within(directory: &Path, base: Option<&str>, todo: &TaskId) -> Result<Self, ClaimFault> {
        let repository = top_of(directory)?;
        let base = match base {
            Some(base) => base.to_owned(),
            None => usual_base(&repository).await?,
        };
        Ok(Self { repository, base, todo: todo.clone() })
    }
}

/// The repository that a directory is in, by the name that its tasks are stored under.
pub(super) fn top_of(directory: &Path) -> Result<PathBuf, ClaimFault> {
    let top = repository_of(directory).ok_or_else(|| ClaimFault::NoRepository(directory.to_owned()))?;
    Ok(std::fs::canonicalize(&top).unwrap_or(top))
}
