//! The workspace of a task: a private clone of the user's repository, made or found again.
//!
//! Invariant: nothing is thrown away. What an earlier attempt left is collected and gone on from, or kept under refs of
//! the task in the user's repository before its workspace is removed.

use super::{
    contest::to_take,
    place::{Place, author, git, message, owner_of, root, with_source},
    start::Start,
};
use crate::Context;
use shuntyard_core::work::task::{Failure, Task, TaskSpec};
use shuntyard_host::{
    git::{Git, GitError, Hooks, LinkedWorktree, Objects, Order, Purpose, Restarted, Source, Uncommitted, Workspace},
    paths::private_dir,
};
use shuntyard_store::RunRecord;
use std::path::{Path, PathBuf};

/// Where an earlier attempt worked.
#[derive(Debug, Clone)]
struct Earlier {
    directory: PathBuf,
    base: Option<String>,
}

/// What a workspace is made of.
struct Wanted<'a> {
    git: &'a Git,
    task: &'a Task,
    owner: String,
    repository: &'a Path,
    root: &'a Path,
    /// The commit that the work starts from.
    base: &'a str,
    hooks: Hooks,
}

/// The workspace with the work so far on the newest base. `uncommitted` is what an earlier release left in a worktree.
pub(super) async fn prepare(
    context: &Context,
    task: &Task,
    runs: &[RunRecord],
    uncommitted: Uncommitted,
) -> Result<Place, Failure> {
    let start = match to_take(task) {
        // What a contest's winner made is after the base that the winner had; the delivery takes care of a newer one.
        Some(decided) => Start::at(&decided.base),
        None => Start::of(context, task).await?,
    };
    let root = root(context, task);
    let earlier = runs
        .iter()
        .rev()
        .find_map(|run| Some(Earlier { directory: PathBuf::from(run.worktree.clone()?), base: run.base.clone() }));
    let hooks = match crate::settings_of(&context.config, Path::new(&task.spec.repository)).hooks {
        true => Hooks::Copied,
        false => Hooks::None,
    };
    let task = task.clone();
    let made = crate::in_thread(move || make(&task, &start, &root, earlier.as_ref(), (hooks, uncommitted)));
    made.await.unwrap_or_else(|error| Err(Failure::environment("workspace", error.to_string())))
}

fn make(
    task: &Task,
    start: &Start,
    root: &Path,
    earlier: Option<&Earlier>,
    (hooks, uncommitted): (Hooks, Uncommitted),
) -> Result<Place, Failure> {
    let failed = |error: GitError| {
        let detail = format!("its workspace could not be made: failed to {}", with_source(&error));
        Failure::environment(signature(&error), detail)
    };
    let repository = PathBuf::from(&task.spec.repository);
    // Work that was begun in another repository than the one that is there now must not be kept there.
    let is_begun =
        |earlier: &&Earlier| matches!(git().open_workspace(&earlier.directory, &owner_of(task)), Ok(Some(_)));
    let begun = earlier.filter(is_begun).and_then(|earlier| earlier.base.as_deref());
    let git = match git().of_repository(&repository, begun) {
        Err(GitError::NotThatRepository { why, .. }) => {
            let detail = format!("its workspace could not be made: {}: {why}", repository.display());
            return Err(Failure::environment("no repository", detail));
        }
        git => git.map_err(failed)?,
    };
    let base = start.commit(&git, &repository)?;
    let owner = owner_of(task);
    let wanted = Wanted { git: &git, task, owner, repository: &repository, root, base: &base, hooks };
    let workspace = wanted.found_or_made(earlier, uncommitted).map_err(failed)?;
    Ok(Place::of_workspace(task, &workspace))
}

impl Wanted<'_> {
    fn found_or_made(&self, earlier: Option<&Earlier>, uncommitted: Uncommitted) -> Result<Workspace, GitError> {
        let failed = |source| GitError::Run { command: format!("mkdir {}", self.root.display()), source };
        private_dir(self.root).map_err(failed)?;
        let moved = match earlier {
            Some(earlier) => self.taken_over(earlier, uncommitted)?,
            None => None,
        };
        let directory = own_directory(self.git, self.root, self.task, &self.owner)?;
        let found = match moved {
            Some(moved) => Some(moved),
            None => {
                self.git.revive_workspace(&directory, &self.owner)?;
                self.git.open_workspace(&directory, &self.owner)?
            }
        };
        if let Some(workspace) = found
            && let Some(workspace) = go_on(self.git, self.task, workspace, self.repository, self.base)?
        {
            return Ok(workspace);
        }
        self.create(&directory, self.base)
    }

    fn create(&self, directory: &Path, start: &str) -> Result<Workspace, GitError> {
        self.git.create_workspace(&Order {
            source: Source::Repository(self.repository),
            destination: directory,
            owner: &self.owner,
            branch: &TaskSpec::branch(&self.task.id),
            start,
            hooks: self.hooks,
            purpose: Purpose::Work,
            objects: Objects::Linked,
        })
    }

    /// A workspace with the work that an earlier release did in a worktree of the user's repository, if there is any.
    fn taken_over(&self, earlier: &Earlier, uncommitted: Uncommitted) -> Result<Option<Workspace>, GitError> {
        let (git, branch) = (self.git, TaskSpec::branch(&self.task.id));
        let (repository, directory) = (self.repository, earlier.directory.as_path());
        let linked = LinkedWorktree { repository, directory, owner: &self.owner, branch: &branch };
        let (text, author) = (message(self.task, "Work kept from an earlier attempt"), author(git, repository));
        let Some(taken) = linked.take_over(git, uncommitted, &text, &author)? else { return Ok(None) };
        if let Some(why) = &taken.stays {
            tracing::warn!(worktree = %directory.display(), why, "a worktree of an earlier release stays");
        }
        let from = self.base_of(&taken.work, earlier.base.as_deref())?;
        let Some(from) = from.filter(|_| !self.task.tally.afresh) else {
            linked.keep(git, &taken.work)?;
            linked.forget(git)?;
            return Ok(None);
        };
        let directory = own_directory(git, self.root, self.task, &self.owner)?;
        // A process died before it was recorded, so no agent has worked in it.
        if let Some(unused) = git.open_workspace(&directory, &self.owner)? {
            unused.remove()?;
        }
        let mut workspace = self.create(&directory, &from)?;
        workspace.take_over(&linked)?;
        linked.forget(git)?;
        Ok(Some(workspace))
    }

    /// The commit that such work starts from: where it left the base, but never before the recorded one, or else a
    /// commit that the user has removed from the base would come back.
    fn base_of(&self, work: &str, recorded: Option<&str>) -> Result<Option<String>, GitError> {
        let (git, repository) = (self.git, self.repository);
        let parted = git.merge_base(repository, work, self.base)?;
        let Some(recorded) = recorded else { return Ok(parted) };
        let is_part = git.has_commit(repository, recorded)? && git.is_ancestor(repository, recorded, work)?;
        Ok(match parted {
            Some(parted) if !is_part || git.is_ancestor(repository, recorded, &parted)? => Some(parted),
            _ => is_part.then(|| recorded.to_owned()),
        })
    }
}

fn signature(error: &GitError) -> String {
    match error {
        GitError::Failed { stderr, .. } => format!("workspace {}", stderr.chars().take(120).collect::<String>()),
        other => format!("workspace {other}"),
    }
}

/// The directory of this task's workspace: there already, or free. What belongs to another stays.
fn own_directory(git: &Git, root: &Path, task: &Task, owner: &str) -> Result<PathBuf, GitError> {
    let mut number = 0;
    loop {
        let name = if number == 0 { task.id.to_string() } else { format!("{}~{number}", task.id) };
        let directory = root.join(name);
        let ours = git.open_workspace(&directory, owner)?.is_some_and(|workspace| workspace.is_usable());
        if ours || directory.symlink_metadata().is_err() {
            return Ok(directory);
        }
        number += 1;
    }
}

/// Collects what is there and goes on from it. `None` when the work begins anew; what was there is kept then.
fn go_on(
    git: &Git,
    task: &Task,
    mut workspace: Workspace,
    repository: &Path,
    base: &str,
) -> Result<Option<Workspace>, GitError> {
    let author = author(git, repository);
    match workspace.collect(&message(task, "Work kept from an earlier attempt"), &author) {
        Ok(_) => {}
        // Git refuses something in it, and would again: it stays as it is, beside a new one.
        Err(error @ GitError::Failed { .. }) => {
            tracing::warn!(error = with_source(&error), "a workspace is left aside");
            workspace.set_aside()?;
            return Ok(None);
        }
        Err(error) => return Err(error),
    }
    if !task.tally.afresh && workspace.restart_from(repository, base, &author)? == Restarted::Ready {
        return Ok(Some(workspace));
    }
    workspace.keep_everything(repository)?;
    if let Some(changed) = unsaved(&workspace)? {
        tracing::warn!(workspace = %workspace.directory.display(), changed, "a workspace is left aside");
        workspace.set_aside()?;
        return Ok(None);
    }
    workspace.remove()?;
    Ok(None)
}

/// What would be lost with a workspace although its tips are kept.
pub(super) fn unsaved(workspace: &Workspace) -> Result<Option<String>, GitError> {
    let submodules = workspace.unsaved_submodules()?;
    if !submodules.is_empty() {
        return Ok(Some(format!("the submodule {} has changes of its own", submodules.join(", "))));
    }
    let nested = workspace.nested_repositories()?;
    Ok((!nested.is_empty()).then(|| format!("{} is a repository of its own, which is nowhere else", nested.join(", "))))
}
