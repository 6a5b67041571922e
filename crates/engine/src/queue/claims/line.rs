//! Which line of which TODO.md is meant, and which tasks of the store came from one.

use super::{ClaimFault, shared::usual_base};
use crate::Context;
use shuntyard_core::work::task::{Delivered, State, Task, TaskId};
use shuntyard_host::repository::repository_of;
use shuntyard_store::{TaskFilter, TaskRecord};
use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

const VARIABLE: &str = "SHUNTYARD_AUTO_ISSUE";
const PAGE: u32 = 500;

/// Whether issues are made and kept up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Issues {
    Wanted,
    /// The caller did not ask for them; the environment may.
    AsSet,
}

impl Issues {
    pub(super) fn are_wanted(self, context: &Context) -> bool {
        self == Self::Wanted || context.variable(VARIABLE) == Some("true")
    }
}

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

/// The tasks of a repository that came from its TODO.md: of each line the newest.
pub(super) async fn linked(context: &Context, repository: &Path) -> Result<Vec<TaskRecord>, ClaimFault> {
    let mut newest = BTreeMap::new();
    let mut filter =
        TaskFilter { repository: Some(repository.display().to_string()), limit: PAGE, ..TaskFilter::default() };
    loop {
        let page = context.store.tasks(&filter).await?;
        let Some(last) = page.last() else { break };
        filter.after = last.number;
        newest.extend(page.into_iter().filter_map(|record| Some((record.task.spec.todo.clone()?, record))));
    }
    Ok(newest.into_values().collect())
}
