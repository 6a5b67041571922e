//! Clean checkouts: a commit, and nothing else, with the repository's setup command run in it. What is verified here is
//! exactly what is delivered.

use super::{
    check::run_check,
    life::Life,
    place::{Place, git, owner_of, root, with_source},
};
use crate::{Context, queue::supervise::spawn::log_dir};
use shuntyard_core::work::task::{Check, Task};
use shuntyard_host::{
    ProcessIdentity,
    clock::now_micros,
    git::{Git, GitError, Hooks, Objects, Order, Purpose, Source, Workspace},
};
use shuntyard_store::TaskRecord;
use std::path::Path;

/// A checkout that is thrown away.
#[derive(Debug)]
pub(super) struct CleanCheckout {
    pub(super) workspace: Workspace,
}

impl CleanCheckout {
    /// Checks out a commit of a workspace or, without one, of the repository.
    pub(super) async fn make(
        context: &Context,
        task: &Task,
        place: Option<&Place>,
        commit: &str,
        name: &str,
    ) -> Result<Self, GitError> {
        let place = place.cloned();
        let workspace = move || place.map(|place| place.workspace()).transpose();
        Self::make_from(context, task, commit, name, (workspace, None)).await
    }

    /// Checks out a commit that this one was rebased to, with the submodules that the user has.
    pub(super) async fn rebased(
        &self,
        context: &Context,
        task: &Task,
        commit: &str,
        onto: &str,
    ) -> Result<Self, GitError> {
        let workspace = self.workspace.clone();
        let (workspace, onto) = (move || Ok(Some(workspace)), Some(onto.to_owned()));
        Self::make_from(context, task, commit, "rebased", (workspace, onto)).await
    }

    async fn make_from(
        context: &Context,
        task: &Task,
        commit: &str,
        name: &str,
        (workspace, onto): (impl FnOnce() -> Result<Option<Workspace>, GitError> + Send + 'static, Option<String>),
    ) -> Result<Self, GitError> {
        let root = root(context, task);
        let own = format!("{}~{name}-{}-{}", task.id, std::process::id(), now_micros());
        let destination = root.join(own);
        let (task, commit) = (task.clone(), commit.to_owned());
        let made = crate::in_thread(move || {
            let repository = std::path::PathBuf::from(&task.spec.repository);
            let git = git().not_above(&repository);
            discard_abandoned(&git, &root, &task);
            if let Some(parent) = destination.parent() {
                shuntyard_host::paths::private_dir(parent)
                    .map_err(|source| GitError::Run { command: format!("mkdir {}", parent.display()), source })?;
            }
            let workspace = workspace()?;
            let source = match (&workspace, &onto) {
                (None, _) => Source::Repository(&repository),
                (Some(workspace), None) => Source::Workspace(workspace),
                (Some(workspace), Some(onto)) => Source::Rebased { workspace, onto, repository: &repository },
            };
            let owner = owner_of(&task);
            let order = Order {
                source,
                destination: &destination,
                owner: &owner,
                branch: "shuntyard/check",
                start: &commit,
                hooks: Hooks::None,
                purpose: Purpose::Check,
                objects: Objects::Linked,
            };
            git.create_workspace(&order)
        });
        let joined = made.await.unwrap_or_else(|source| Err(GitError::Run { command: "git clone".to_owned(), source }));
        joined.map(|workspace| Self { workspace })
    }

    /// Prepares it and runs the verify commands in order, up to the first that is not green.
    pub(super) async fn verify(
        &self,
        context: &Context,
        record: &TaskRecord,
        life: Option<&Life>,
        log: &str,
    ) -> Result<Vec<Check>, String> {
        let task = &record.task;
        if task.spec.verify.is_empty() {
            return Ok(Vec::new());
        }
        set_up(context, record, &self.workspace, life, log).await?;
        let mut checks = Vec::new();
        for (number, command) in task.spec.verify.iter().enumerate() {
            let place = log_dir(context, &task.id).join(format!("{log}.verify-{}", number + 1));
            let running = run_check(context, record, command.clone(), self.workspace.directory.clone(), place);
            let check = stoppable(running, life).await?;
            let green = check.exit.is_green();
            checks.push(check);
            if !green {
                break;
            }
        }
        Ok(checks)
    }

    pub(super) async fn remove(self) {
        let removed = tokio::task::spawn_blocking(move || self.workspace.remove()).await;
        if let Ok(Err(error)) = removed {
            tracing::warn!(error = with_source(&error), "a clean checkout could not be removed");
        }
    }
}

/// Removes the clean checkouts of this task whose process has ended, also those that are half made or half removed.
pub(super) fn discard_abandoned(git: &Git, root: &Path, task: &Task) {
    let prefix = format!("{}~", task.id);
    for entry in std::fs::read_dir(root).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        // What belongs to a checkout is beside it, as `.NAME.WHAT`.
        let beside = name.strip_prefix('.').and_then(|name| name.rsplit_once('.'));
        let own = beside.map_or(name.as_str(), |(own, _)| own);
        let place = root.join(own);
        let pid = own.strip_prefix(&prefix).and_then(|rest| rest.split('-').nth(1)?.parse::<u32>().ok());
        let is_ours = || !place.exists() || matches!(git.open_workspace(&place, &owner_of(task)), Ok(Some(_)));
        let has_ended = |pid| ProcessIdentity::of(pid).is_none_or(|process| !process.is_alive());
        if pid.is_some_and(has_ended) && is_ours() {
            drop(git.discard_workspace(&place));
        }
    }
}

/// Runs the setup command of the task or of its repository, if there is one.
pub(super) async fn set_up(
    context: &Context,
    record: &TaskRecord,
    workspace: &Workspace,
    life: Option<&Life>,
    log: &str,
) -> Result<(), String> {
    let Some(command) = setup_command(context, record) else { return Ok(()) };
    let place = log_dir(context, &record.task.id).join(format!("{log}.setup"));
    let running = run_check(context, record, command.clone(), workspace.directory.clone(), place);
    let check = stoppable(running, life).await?;
    if check.exit.is_green() {
        return Ok(());
    }
    Err(format!("the setup command `{command}` ended with {}: {}", check.exit.shown(), check.tail.trim()))
}

pub(super) fn setup_command(context: &Context, record: &TaskRecord) -> Option<String> {
    let spec = &record.task.spec;
    let command = match &spec.verification.setup {
        Some(command) => command.clone(),
        None => crate::settings_of(&context.config, Path::new(&spec.repository)).setup,
    };
    Some(command).filter(|command| !command.trim().is_empty())
}

pub(super) async fn stoppable(
    running: impl Future<Output = Result<Check, String>>,
    life: Option<&Life>,
) -> Result<Check, String> {
    let Some(life) = life else { return running.await };
    tokio::select! {
        check = running => check,
        () = life.stop().cancelled() => Err("it was stopped".to_owned()),
    }
}
