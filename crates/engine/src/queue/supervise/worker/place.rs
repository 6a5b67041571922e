//! Where a task is worked on, and the git that acts there.

use crate::{Context, base::hash::short_hash};
use shuntyard_core::{
    experience::FailureMode,
    settings::micros,
    work::task::{Failure, Place as Where, Task},
};
use shuntyard_host::git::{Author, Git, GitError, LinkedWorktree, Workspace};
use shuntyard_store::{RunNote, RunRecord};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) directory: PathBuf,
    pub(super) repository: PathBuf,
    /// None in place.
    pub(super) branch: Option<String>,
    /// The commit that the work began from.
    pub(super) base: Option<String>,
    pub(super) owner: String,
}

impl Place {
    /// Where the work of a task is, by the newest run that had a place.
    pub(super) fn of_run(task: &Task, runs: &[RunRecord]) -> Option<Self> {
        let run = runs.iter().rev().find(|run| run.worktree.is_some())?;
        Some(Self {
            directory: PathBuf::from(run.worktree.clone()?),
            repository: PathBuf::from(&task.spec.repository),
            branch: run.branch.clone(),
            base: run.base.clone(),
            owner: owner_of(task),
        })
    }

    pub(super) fn of_workspace(task: &Task, workspace: &Workspace) -> Self {
        Self {
            directory: workspace.directory.clone(),
            repository: PathBuf::from(&task.spec.repository),
            branch: Some(workspace.record.branch.clone()),
            base: Some(workspace.record.base.clone()),
            owner: workspace.record.owner.clone(),
        }
    }

    /// Git for the user's repository, as long as it is the one that the work began in.
    pub(super) fn git(&self) -> Result<Git, GitError> {
        git().of_repository(&self.repository, self.base.as_deref())
    }

    pub(super) fn workspace(&self) -> Result<Workspace, GitError> {
        git().not_above(&self.repository).open_workspace(&self.directory, &self.owner)?.ok_or_else(|| {
            GitError::NotThatRepository { path: self.directory.clone(), why: "the workspace of this task is gone" }
        })
    }

    /// The worktree of the user's repository in which earlier releases would have done the work.
    pub(super) fn linked(&self) -> Option<LinkedWorktree<'_>> {
        let branch = self.branch.as_deref()?;
        Some(LinkedWorktree { repository: &self.repository, directory: &self.directory, owner: &self.owner, branch })
    }

    /// Whether there is such a worktree, or work out of one that has no workspace yet.
    pub(super) fn is_linked(&self) -> bool {
        self.linked().is_some_and(|linked| linked.is_pending(&git().not_above(&self.repository)).unwrap_or(false))
    }

    /// Whether the workspace is there.
    pub(super) fn exists(&self) -> bool {
        self.workspace().is_ok()
    }
}

/// The remote that branches are pushed to.
pub(super) fn usual_remote(git: &Git, repository: &Path) -> Result<Option<String>, GitError> {
    let remotes = git.remotes(repository)?;
    Ok(remotes.iter().find(|name| *name == "origin").or_else(|| remotes.first()).cloned())
}

/// What a claim notes when its worker begins.
pub(super) fn started_note(context: &Context, task: &Task, now: i64) -> RunNote {
    RunNote {
        started_at: Some(now),
        lease_until: Some(now.saturating_add(micros(context.config.supervise.lease))),
        // A place that is there already is known from the start.
        worktree: given(task).map(|place| place.directory.display().to_string()),
        ..RunNote::default()
    }
}

/// Which task of which store: another store, or one that was made anew, has other times.
pub(crate) fn owner_of(task: &Task) -> String {
    format!("{}-{}", task.id, task.created_at)
}

/// Git without hooks: they are for people, and could hang or refuse what must not be lost.
pub(crate) fn git() -> Git {
    Git::default().with_setting("core.hooksPath", "/dev/null")
}

/// The author of commits: the user, as git knows them.
pub(super) fn author(git: &Git, directory: &Path) -> Author {
    let mut user = git.not_above(directory).user(directory).unwrap_or_default();
    for (value, instead) in [(&mut user.name, "Shuntyard"), (&mut user.email, "shuntyard@localhost")] {
        if value.is_empty() {
            instead.clone_into(value);
        }
    }
    user
}

/// The place of a task that is done in place.
pub(super) fn given(task: &Task) -> Option<Place> {
    let repository = PathBuf::from(&task.spec.repository);
    (task.spec.place == Where::Directory).then(|| Place {
        directory: repository.clone(),
        repository,
        branch: None,
        base: None,
        owner: owner_of(task),
    })
}

/// The directory for the workspaces of a repository.
pub(super) fn root(context: &Context, task: &Task) -> PathBuf {
    let repository = Path::new(&task.spec.repository);
    let name = repository.file_name().map_or_else(|| "repository".into(), |name| name.to_string_lossy().into_owned());
    worktrees(context).join(format!("{name}-{}", short_hash(&task.spec.repository)))
}

pub(crate) fn worktrees(context: &Context) -> PathBuf {
    match context.config.supervise.worktrees.as_str() {
        "" => context.paths.data_dir.join("worktrees"),
        directory => PathBuf::from(directory),
    }
}

/// A git error with what lies behind it.
pub(super) fn with_source(error: &GitError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}

pub(super) fn message(task: &Task, what: &str) -> String {
    let subject: String = task.spec.description.lines().next().unwrap_or_default().chars().take(60).collect();
    format!("{}: {}\n\n{what}\n", task.id, subject.trim())
}

/// A task whose start cannot be made needs a person.
pub(super) fn needs_person(signature: &str, detail: String) -> Failure {
    Failure { mode: FailureMode::Blocked, ..Failure::environment(signature, detail) }
}
