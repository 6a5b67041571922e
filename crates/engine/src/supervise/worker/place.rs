//! Where a task is worked on: a working tree of its own, outside of the repository, on a branch of its own.
//!
//! Invariant: nothing is thrown away. What an earlier try left is committed and gone on from, or stays behind on a
//! branch that says so.

use super::gather::{secrets_between, secrets_of};
use crate::{Context, server::short_hash};
use std::path::{Path, PathBuf};
use switchyard_core::task::{Failure, Place as Where, Task, TaskSpec};
use switchyard_host::{
    git::{Author, Git, GitError, Rebased, Removal, UpdateRefError},
    paths::private_dir,
};
use switchyard_store::RunRecord;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) directory: PathBuf,
    pub(super) repository: PathBuf,
    /// None in place.
    pub(super) branch: Option<String>,
    /// The commit that the work began from.
    pub(super) base: Option<String>,
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
        })
    }
}

/// Git without the repository's hooks: they are for people, and could hang or refuse what must not be lost.
pub(crate) fn git() -> Git {
    let mut git = Git::default();
    for (name, value) in
        [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.hooksPath"), ("GIT_CONFIG_VALUE_0", "/dev/null")]
    {
        git.variables.push((name.into(), value.into()));
    }
    git
}

/// Whom commits are by: the user, as git knows them.
pub(super) fn author(git: &Git, directory: &Path) -> Author {
    let configured = |key: &str| git.setting(directory, key).ok().flatten().filter(|value| !value.is_empty());
    Author {
        name: configured("user.name").unwrap_or_else(|| "Switchyard".to_owned()),
        email: configured("user.email").unwrap_or_else(|| "switchyard@localhost".to_owned()),
    }
}

/// The place of a task that is done in place.
pub(super) fn given(task: &Task) -> Option<Place> {
    let repository = PathBuf::from(&task.spec.repository);
    (task.spec.place == Where::Directory).then(|| Place {
        directory: repository.clone(),
        repository,
        branch: None,
        base: None,
    })
}

/// The working tree of a task, made or found again.
pub(super) async fn prepare(context: &Context, task: &Task, runs: &[RunRecord]) -> Result<Place, Failure> {
    let repository = PathBuf::from(&task.spec.repository);
    let root = worktrees(context).join(format!(
        "{}-{}",
        repository.file_name().map_or_else(|| "repository".into(), |name| name.to_string_lossy().into_owned()),
        short_hash(&task.spec.repository)
    ));
    let task = task.clone();
    let past: Vec<i64> = runs.iter().map(|run| run.epoch).collect();
    let made = tokio::task::spawn_blocking(move || make(&task, &repository, &root, past.len()));
    match made.await {
        Ok(Ok(place)) => Ok(place),
        Ok(Err(error)) => {
            Err(Failure::environment(signature(&error), format!("its worktree could not be made: failed to {error}")))
        }
        Err(error) => Err(Failure::environment("worktree", error.to_string())),
    }
}

fn signature(error: &GitError) -> String {
    match error {
        GitError::Failed { stderr, .. } => format!("worktree {}", stderr.chars().take(120).collect::<String>()),
        other => format!("worktree {other}"),
    }
}

fn worktrees(context: &Context) -> PathBuf {
    match context.config.supervise.worktrees.as_str() {
        "" => context.paths.data_dir.join("worktrees"),
        directory => PathBuf::from(directory),
    }
}

fn make(task: &Task, repository: &Path, root: &Path, tries: usize) -> Result<Place, GitError> {
    let git = git();
    if git.toplevel(repository)?.as_deref() != Some(repository) {
        let stderr = "it is no repository any more".to_owned();
        return Err(GitError::Failed { command: format!("git -C {}", repository.display()), code: None, stderr });
    }
    private_dir(root).map_err(|source| GitError::Run { command: format!("mkdir {}", root.display()), source })?;
    let directory = root.join(task.id.as_str());
    let branch = TaskSpec::branch(&task.id);
    let tip = git.commit_of(repository, &task.spec.base)?;
    let mut exists = git.branch_commit(repository, &branch)?;
    if directory.join(".git").exists() && git.current_branch(&directory).ok().flatten().as_ref() == Some(&branch) {
        unlock(&directory);
        commit(&git, task, &directory, "Work kept from an earlier try")?;
        exists = git.branch_commit(repository, &branch)?;
        if !task.tally.afresh && on_new_base(&git, &directory, &tip)? {
            let base = git.merge_base(repository, &tip, &branch)?.unwrap_or(tip);
            return Ok(Place { directory, repository: repository.to_owned(), branch: Some(branch), base: Some(base) });
        }
        git.remove_if_safe(repository, &directory)?;
    }
    if let Some(at) = exists {
        if !task.tally.afresh && !directory.exists() {
            git.worktree_prune(repository)?;
            git.worktree_add_existing(repository, &directory, &branch)?;
            if on_new_base(&git, &directory, &tip)? {
                let base = git.merge_base(repository, &tip, &branch)?.unwrap_or(tip);
                return Ok(Place {
                    directory,
                    repository: repository.to_owned(),
                    branch: Some(branch),
                    base: Some(base),
                });
            }
            git.remove_if_safe(repository, &directory)?;
        }
        set_aside(&git, repository, &branch, &at, tries)?;
    }
    // Something that is in the way and not ours to remove stays where it is.
    let directory = (0..).map(|number| free_name(&directory, number)).find(|path| !path.exists()).unwrap_or(directory);
    git.worktree_prune(repository)?;
    git.worktree_add(repository, &directory, &branch, &tip)?;
    Ok(Place { directory, repository: repository.to_owned(), branch: Some(branch), base: Some(tip) })
}

fn free_name(directory: &Path, number: u32) -> PathBuf {
    if number == 0 {
        return directory.to_owned();
    }
    let name = directory.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    directory.with_file_name(format!("{name}~{number}"))
}

/// Whether the work now stands on the newest base. When the two cannot be joined, it is begun again.
fn on_new_base(git: &Git, directory: &Path, tip: &str) -> Result<bool, GitError> {
    match git.rebase(directory, tip, &author(git, directory))? {
        Rebased::Done { .. } | Rebased::UpToDate => Ok(true),
        Rebased::Conflict { .. } | Rebased::Dirty { .. } => Ok(false),
    }
}

/// The earlier work stays, under another name.
fn set_aside(git: &Git, repository: &Path, branch: &str, at: &str, tries: usize) -> Result<(), GitError> {
    let unwrap = |error| match error {
        UpdateRefError::Git(error) => error,
        UpdateRefError::Moved { name, .. } => GitError::Failed {
            command: format!("git update-ref {name}"),
            code: None,
            stderr: "it has moved".to_owned(),
        },
    };
    let mut number = tries;
    loop {
        let name = format!("{branch}-before-{number}");
        match git.branch_commit(repository, &name)? {
            Some(there) if there == at => break,
            Some(_) => number += 1,
            None => {
                git.branch_create(repository, &name, at).map_err(unwrap)?;
                break;
            }
        }
    }
    git.delete_ref(repository, &format!("refs/heads/{branch}"), at).map_err(unwrap)
}

/// A git that was killed leaves its lock behind. Nobody else works in this worktree.
fn unlock(directory: &Path) {
    if let Ok(pointer) = std::fs::read_to_string(directory.join(".git"))
        && let Some(gitdir) = pointer.trim().strip_prefix("gitdir: ")
    {
        drop(std::fs::remove_file(directory.join(gitdir).join("index.lock")));
    }
}

fn commit(git: &Git, task: &Task, directory: &Path, what: &str) -> Result<Option<String>, GitError> {
    git.commit_all(directory, &message(task, what), &author(git, directory))
}

fn message(task: &Task, what: &str) -> String {
    let subject: String = task.spec.description.lines().next().unwrap_or_default().chars().take(60).collect();
    format!("{}: {}\n\n{what}\n", task.id, subject.trim())
}

/// Commits what the agent left uncommitted.
pub(super) async fn keep_work(task: &Task, place: &Place) -> Result<(), String> {
    if place.branch.is_none() {
        return Ok(());
    }
    let (task, place) = (task.clone(), place.clone());
    let kept = tokio::task::spawn_blocking(move || {
        unlock(&place.directory);
        let git = git();
        commit(&git, &task, &place.directory, "What the agent left uncommitted")?;
        // An agent may have made a branch of its own, although it was told not to.
        if let Some(branch) = &place.branch
            && git.current_branch(&place.directory)?.as_ref() != Some(branch)
        {
            git.adopt_head(&place.directory, branch)?;
        }
        forget_secrets(&git, &task, &place)
    });
    match kept.await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(format!("the work could not be committed: failed to {error}")),
        Err(error) => Err(error.to_string()),
    }
}

/// A secret that an earlier try left, and that is deleted by now, must not go along in the history.
fn forget_secrets(git: &Git, task: &Task, place: &Place) -> Result<(), GitError> {
    let Some(base) = &place.base else { return Ok(()) };
    let head = git.commit_of(&place.directory, "HEAD")?;
    let commits = git.commits_between(&place.directory, base, &head)?;
    let in_history = !secrets_of(git, &place.directory, &commits)?.is_empty();
    if in_history && secrets_between(git, &place.directory, base, &head)?.is_empty() {
        let message = message(task, "In one commit: an earlier one had a secret in it");
        git.squash(&place.directory, base, &message, &author(git, &place.directory))?;
    }
    Ok(())
}

/// What is not needed any more goes, as far as nothing is lost by it: the worktree when all in it is committed, the
/// branch when the base has all of it.
pub(super) async fn tidy(context: &Context, task: &Task) -> Result<String, String> {
    if task.spec.place == Where::Directory {
        return Ok("it was done in place".to_owned());
    }
    let runs = context.store.runs(&task.id).await.map_err(|error| error.to_string())?;
    let Some(place) = Place::of_run(task, &runs) else { return Ok("it had no place".to_owned()) };
    let Some(branch) = place.branch.clone() else { return Ok("it has no branch".to_owned()) };
    let base = task.spec.base.clone();
    let left = tokio::task::spawn_blocking(move || {
        let git = git();
        if place.directory.exists()
            && let Removal::Kept(why) = git.remove_if_safe(&place.repository, &place.directory)?
        {
            return Ok(format!("{} stays: {why}", place.directory.display()));
        }
        git.delete_branch_if_merged(&place.repository, &branch, &base)?;
        Ok::<_, GitError>("its worktree is removed".to_owned())
    });
    match left.await {
        Ok(Ok(said)) => Ok(said),
        Ok(Err(error)) => Err(format!("failed to {error}")),
        Err(error) => Err(error.to_string()),
    }
}
