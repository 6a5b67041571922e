//! The evidence: what git says was changed, and what the verify commands say about it.

use super::{
    agent::{exit_of, variables},
    ended::Ended,
    life::Life,
    patch::{SECRETS, secrets, unmerged},
    place::{Place, git},
};
use crate::{Context, supervise::spawn::log_dir};
use std::path::{Path, PathBuf};
use switchyard_core::{
    redact::redact,
    task::{Check, Commit, End, Findings, Secret, Task},
};
use switchyard_host::{
    git::{Git, GitError},
    paths::private_dir,
    shell,
};
use switchyard_store::TaskRecord;

/// Findings without any, for work that never had a place.
pub(super) fn nothing(ended: &Ended) -> Findings {
    Findings {
        end: ended.end.clone(),
        said: ended.said.clone(),
        base: None,
        head: None,
        commits: 0,
        changed: Vec::new(),
        lines: 0,
        binaries: 0,
        trespass: ended.trespass.clone(),
        secrets: Vec::new(),
        unmerged: Vec::new(),
        checks: Vec::new(),
        asked: ended.asked.clone(),
        answered: ended.answered.clone(),
        cost: ended.cost,
        cost_known: ended.cost_known,
    }
}

pub(super) async fn gather(
    context: &Context,
    task: &Task,
    place: &Place,
    ended: &Ended,
    life: &Life,
) -> Result<Findings, String> {
    let mut findings = nothing(ended);
    if let (Some(base), Some(_)) = (place.base.clone(), &place.branch) {
        let directory = place.directory.clone();
        let read = tokio::task::spawn_blocking(move || read(&git(), &directory, &base));
        let found = read.await.map_err(|error| error.to_string())?;
        let found = found.map_err(|error| format!("the work could not be looked at: failed to {error}"))?;
        findings = Findings {
            base: Some(found.base),
            head: Some(found.head),
            commits: found.commits,
            changed: found.changed,
            lines: found.lines,
            binaries: found.binaries,
            secrets: found.secrets,
            unmerged: found.unmerged,
            ..findings
        };
    }
    // An agent that was ended, or that changed nothing, has nothing to verify.
    let worth =
        matches!(&findings.end, End::Answered) || matches!(&findings.end, End::Exit { exit } if exit.is_green());
    if worth {
        findings.checks = check(context, task, &place.directory, life).await?;
    }
    Ok(findings)
}

struct Found {
    base: Commit,
    head: Commit,
    commits: u32,
    changed: Vec<String>,
    lines: u64,
    binaries: u32,
    secrets: Vec<Secret>,
    unmerged: Vec<String>,
}

fn read(git: &Git, directory: &Path, base: &str) -> Result<Found, GitError> {
    let head = git.commit_of(directory, "HEAD")?;
    let commit =
        |commit: &str| Ok::<_, GitError>(Commit { commit: commit.to_owned(), tree: git.tree_of(directory, commit)? });
    let mut changed: Vec<String> =
        git.changed_between(directory, base, &head)?.iter().map(|path| path.display().to_string()).collect();
    changed.sort();
    let stats = git.diff_stat(directory, base)?;
    let lines = stats.iter().filter_map(|file| file.lines).map(|lines| lines.added + lines.deleted).sum();
    let binaries = stats.iter().filter(|file| file.lines.is_none()).count();
    let commits = git.commits_between(directory, base, &head)?;
    Ok(Found {
        commits: u32::try_from(commits.len()).unwrap_or(u32::MAX),
        base: commit(base)?,
        head: commit(&head)?,
        changed,
        lines,
        binaries: u32::try_from(binaries).unwrap_or(u32::MAX),
        secrets: secrets_of(git, directory, &commits)?,
        unmerged: unmerged(&git.diff_of(directory, &format!("{base}..{head}"))?),
    })
}

/// In every commit, and not only in what they come to: what was deleted later is still in the history.
pub(super) fn secrets_of(git: &Git, directory: &Path, commits: &[String]) -> Result<Vec<Secret>, GitError> {
    let mut found = Vec::new();
    for commit in commits {
        found.extend(secrets(&git.diff_of(directory, &format!("{commit}^..{commit}"))?));
        if found.len() >= SECRETS {
            break;
        }
    }
    Ok(found)
}

pub(super) fn secrets_between(git: &Git, directory: &Path, base: &str, head: &str) -> Result<Vec<Secret>, GitError> {
    Ok(secrets(&git.diff_of(directory, &format!("{base}..{head}"))?))
}

/// Runs the verify commands in order, and stops at the first that is not green.
pub(super) async fn check(context: &Context, task: &Task, directory: &Path, life: &Life) -> Result<Vec<Check>, String> {
    let mut checks = Vec::new();
    for (number, command) in task.spec.verify.iter().enumerate() {
        let log = log_dir(context, &task.id).join(format!("{}.verify-{}", task.epoch, number + 1));
        let record = context.store.task(&task.id).await.map_err(|error| error.to_string())?;
        let running = run_check(context, &record, command.clone(), directory.to_owned(), log);
        let check = tokio::select! {
            check = running => check?,
            () = life.stop().cancelled() => return Err("it was stopped".to_owned()),
        };
        let green = check.exit.is_green();
        checks.push(check);
        if !green {
            break;
        }
    }
    Ok(checks)
}

/// One verify command, in a directory, with its end and the end of what it printed.
pub(super) async fn run_check(
    context: &Context,
    record: &TaskRecord,
    command: String,
    directory: PathBuf,
    log: PathBuf,
) -> Result<Check, String> {
    if let Some(parent) = log.parent() {
        private_dir(parent).map_err(|error| format!("the log of a check could not be made: {error}"))?;
    }
    let check = shell::Check {
        command: command.clone(),
        directory,
        variables: variables(context, record),
        deadline: context.config.supervise.verify_timeout.0.unwrap_or(std::time::Duration::MAX),
        log,
    };
    let own = context.program.clone();
    let checked = tokio::task::spawn_blocking(move || check.run(&own)).await.map_err(|error| error.to_string())?;
    let checked = checked.map_err(|error| format!("`{command}` could not be run: failed to {error}"))?;
    Ok(Check {
        command,
        exit: exit_of(checked.exit),
        tail: redact(&checked.tail),
        took_ms: u64::try_from(checked.took.as_millis()).unwrap_or(u64::MAX),
    })
}
