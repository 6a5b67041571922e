//! Which line of which TODO.md is meant.

use super::{ClaimFault, Issues, write::usual_base};
use shuntyard_core::task::{Delivered, State, Task, TaskId};
use shuntyard_host::repository::repository_of;
use std::path::{Path, PathBuf};

/// A task's line in the TODO.md at the top of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// The top of the main working tree.
    pub repository: PathBuf,
    /// The branch that the file is shared on, or that the work starts from.
    pub base: String,
    /// What the file calls the task.
    pub todo: TaskId,
    /// Whether the line has an issue that is kept up.
    pub issues: Issues,
    /// Where the work is, once it is done: a pull request, or a commit.
    pub link: Option<String>,
}

impl Line {
    /// The line that a task came from; most come from none.
    #[must_use]
    pub fn of(task: &Task) -> Option<Self> {
        let todo = task.spec.todo.clone()?;
        let link = match &task.state {
            State::Done { delivered: Delivered::PullRequest { url, .. } } => Some(url.clone()),
            State::Done { delivered } => delivered.head().map(str::to_owned),
            _ => None,
        };
        let issues = if task.spec.with_issue { Issues::Wanted } else { Issues::AsSet };
        Some(Self { issues, link, ..Self::new(Path::new(&task.spec.repository), &task.spec.base, &todo) })
    }

    /// A line that may have no task.
    #[must_use]
    pub fn new(repository: &Path, base: &str, todo: &TaskId) -> Self {
        Self {
            repository: repository.to_owned(),
            base: base.to_owned(),
            todo: todo.clone(),
            issues: Issues::AsSet,
            link: None,
        }
    }

    /// The line of this id in the repository that a directory is in, whether the store knows the task or not.
    pub async fn within(directory: &Path, base: Option<&str>, todo: &TaskId) -> Result<Self, ClaimFault> {
        let repository = top_of(directory)?;
        let base = match base {
            Some(base) => base.to_owned(),
            None => usual_base(&repository).await?,
        };
        Ok(Self::new(&repository, &base, todo))
    }
}

/// The repository that a directory is in, by the name that its tasks are stored under.
pub(super) fn top_of(directory: &Path) -> Result<PathBuf, ClaimFault> {
    let top = repository_of(directory).ok_or_else(|| ClaimFault::NoRepository(directory.to_owned()))?;
    Ok(std::fs::canonicalize(&top).unwrap_or(top))
}
