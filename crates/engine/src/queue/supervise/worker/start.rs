//! The commit that a task starts from: its base, with the work of the tasks that it depends on.

use super::place::{needs_person, usual_remote, with_source};
use crate::Context;
use shuntyard_core::work::task::{Delivered, Dependency, Failure, Presence, State, Task, TaskId};
use shuntyard_host::git::{Forecast, Git, GitError};
use std::path::Path;

/// Commits of a base in which the work of a dependency is looked for.
const LOOKED_AT: u32 = 200;

/// What has to be in the commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Start {
    base: String,
    /// Whether the remote's newer commits of the base count: those that the pull request has to go with.
    remote: Remote,
    dependencies: Vec<(TaskId, Delivered)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Remote {
    Counts,
    Ignored,
}

impl Start {
    /// Exactly this commit.
    pub(super) fn at(commit: &str) -> Self {
        Self { base: commit.to_owned(), remote: Remote::Ignored, dependencies: Vec::new() }
    }

    pub(super) async fn of(context: &Context, task: &Task) -> Result<Self, Failure> {
        let mut dependencies = Vec::new();
        for id in &task.depends_on {
            let record = context.store.task(id).await;
            let record = record.map_err(|error| Failure::environment("dependency", error.to_string()))?;
            // One that was cancelled has no work; one in another repository has none that fits.
            if let State::Done { delivered } = &record.task.state
                && record.task.spec.repository == task.spec.repository
            {
                dependencies.push((id.clone(), delivered.clone()));
            }
        }
        let remote = if task.tally.pull_request.is_some() { Remote::Counts } else { Remote::Ignored };
        Ok(Self { base: task.spec.base.clone(), remote, dependencies })
    }

    /// Which of the dependencies the commit `base` has.
    pub(super) fn presence(&self, git: &Git, repository: &Path, base: &str) -> Result<Vec<Dependency>, GitError> {
        let found = self.dependencies.iter().map(|(id, delivered)| {
            let presence = match delivered.head() {
                Some(head) if !has_work(git, repository, base, head)? => Presence::NotInBase,
                Some(_) | None => Presence::InBase,
            };
            Ok(Dependency { id: id.clone(), delivered: delivered.clone(), presence })
        });
        found.collect()
    }

    /// The base as it was fetched last, when that contains the local one.
    fn newer_on_remote(&self, git: &Git, repository: &Path, commit: &str) -> Result<Option<String>, GitError> {
        let Some(remote) = usual_remote(git, repository)? else { return Ok(None) };
        let tracked = git.reference_commit(repository, &format!("refs/remotes/{remote}/{}", self.base))?;
        match tracked {
            Some(tracked) if git.is_ancestor(repository, commit, &tracked)? => Ok(Some(tracked)),
            Some(_) | None => Ok(None),
        }
    }

    /// The commit itself; a merge that is needed for it is made in the repository, on no branch.
    pub(super) fn commit(&self, git: &Git, repository: &Path) -> Result<String, Failure> {
        let failed = |error: GitError| {
            let detail = format!("{} could not be found: failed to {}", self.base, with_source(&error));
            Failure::environment(format!("base {}", self.base), detail)
        };
        let mut commit = git.base_commit(repository, &self.base).map_err(failed)?;
        if self.remote == Remote::Counts
            && let Some(newer) = self.newer_on_remote(git, repository, &commit).map_err(failed)?
        {
            commit = newer;
        }
        let mut merged: Vec<&TaskId> = Vec::new();
        for (id, delivered) in &self.dependencies {
            let Some(head) = delivered.head() else { continue };
            if !git.has_commit(repository, head).map_err(failed)? {
                let detail = format!("{id}, which it depends on, was delivered as {head}, and that commit is gone");
                return Err(needs_person(&format!("dependency {id}"), detail));
            }
            if git.is_ancestor(repository, head, &commit).map_err(failed)? {
                continue;
            }
            if git.is_ancestor(repository, &commit, head).map_err(failed)? {
                head.clone_into(&mut commit);
            } else if has_work(git, repository, &commit, head).map_err(failed)? {
                continue;
            } else {
                match git.merge_forecast(repository, &commit, head).map_err(failed)? {
                    Forecast::Clean { tree } => {
                        let message = format!("The base of a task that depends on {id}");
                        commit = git.merge_commit(repository, &tree, [&commit, head], &message).map_err(failed)?;
                    }
                    Forecast::Conflict { paths, .. } => {
                        let named: Vec<String> = paths.iter().take(5).map(|path| path.display().to_string()).collect();
                        let others = merged.iter().map(|id| id.to_string()).chain([self.base.clone()]);
                        let with = others.collect::<Vec<_>>().join(" and ");
                        let detail = format!(
                            "the work of {id}, which it depends on, conflicts with {with} in {}; merge it by hand first",
                            named.join(", ")
                        );
                        return Err(needs_person(&format!("dependency {id} conflicts"), detail));
                    }
                    Forecast::Unknown { why } => {
                        return Err(needs_person("dependencies", format!("its dependencies cannot be merged: {why}")));
                    }
                }
            }
            merged.push(id);
        }
        Ok(commit)
    }
}

/// Whether a base has the work of another commit: as a part of its history, or with the same content, as after a
/// squash.
fn has_work(git: &Git, repository: &Path, base: &str, head: &str) -> Result<bool, GitError> {
    if !git.has_commit(repository, head)? {
        return Ok(false);
    }
    if git.is_ancestor(repository, head, base)? {
        return Ok(true);
    }
    if has_content(git, repository, base, head)? {
        return Ok(true);
    }
    // What came later may have changed it further. Of the commits since, those count that touch the same files.
    let Some(parted) = git.merge_base(repository, base, head)? else { return Ok(false) };
    let touched = git.changed_between(repository, &parted, head)?;
    for since in git.commits_touching(repository, &parted, base, &touched, LOOKED_AT)? {
        if has_content(git, repository, &since, head)? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Whether a merge of a commit would change nothing.
fn has_content(git: &Git, repository: &Path, base: &str, head: &str) -> Result<bool, GitError> {
    let merged = git.merge_forecast(repository, base, head)?;
    Ok(merged == Forecast::Clean { tree: git.tree_of(repository, base)? })
}
