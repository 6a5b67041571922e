//! The evidence: what git reports as changed, and the results of the verify commands.

use super::{
    check::run_check,
    clean::CleanCheckout,
    ended::Ended,
    life::Life,
    patch::{ConflictScanner, SecretScanner},
    place::{Place, with_source},
};
use crate::{Context, queue::supervise::spawn::log_dir};
use shuntyard_core::work::task::{Check, Commit, End, Findings, Secret, Task};
use shuntyard_host::git::{Git, GitError, Step};
use shuntyard_store::TaskRecord;
use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

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
        notes: ended.notes.clone(),
        secrets: Vec::new(),
        unmerged: ended.conflicts.clone(),
        unfinished: ended.unfinished.clone(),
        checks: Vec::new(),
        before: ended.before.clone(),
        deleted: 0,
        files: 0,
        foreign: ended.foreign.clone(),
        dangling: Vec::new(),
        astray: Vec::new(),
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
    let record = context.store.task(&task.id).await.map_err(|error| error.to_string())?;
    if place.branch.is_none() {
        if ended.is_good() {
            findings.checks = check_in_place(context, &record, &place.directory, life).await?;
        }
        return Ok(findings);
    }
    if ended.end == End::RepositoryLost {
        return Ok(findings);
    }
    let looked = place.clone();
    let read = tokio::task::spawn_blocking(move || {
        let workspace = looked.workspace()?;
        let head = workspace.collected()?.unwrap_or_else(|| workspace.record.base.clone());
        let git = workspace.git()?;
        let found = read(&git, &workspace.directory, &workspace.record.base, &head)?;
        let dangling = found.dangling(&looked.repository);
        Ok::<_, GitError>((found, dangling))
    });
    let found = read.await.map_err(|error| error.to_string())?;
    let found = found.map_err(|error| format!("the work could not be looked at: failed to {}", with_source(&error)))?;
    let (found, dangling) = found;
    let astray = found.astray(&place.directory);
    findings = Findings { dangling, astray, ..found.into_findings(findings) };
    // An agent that was ended has nothing to verify.
    if ended.is_good() {
        let head = findings.head.as_ref().map(|head| head.commit.clone()).unwrap_or_default();
        let clean = CleanCheckout::make(context, task, Some(place), &head, "check").await;
        let clean =
            clean.map_err(|error| format!("a clean checkout could not be made: failed to {}", with_source(&error)))?;
        let checks = clean.verify(context, &record, Some(life), &task.epoch.to_string()).await;
        clean.remove().await;
        findings.checks = checks?;
    }
    Ok(findings)
}

pub(super) struct Found {
    base: Commit,
    head: Commit,
    commits: u32,
    changed: Vec<String>,
    lines: u64,
    binaries: u32,
    secrets: Vec<Secret>,
    unmerged: Vec<String>,
    deletions: (u64, u64),
    /// Submodules and nested repositories that are new or moved, with their commits.
    links: Vec<(PathBuf, String)>,
    /// New and changed symbolic links, with where they lead.
    symlinks: Vec<(PathBuf, PathBuf)>,
}

impl Found {
    /// Submodules and nested repositories at commits that the user's own copies do not have.
    pub(super) fn dangling(&self, repository: &Path) -> Vec<String> {
        let git = super::place::git();
        let dangling = self.links.iter().filter(|(path, commit)| {
            let theirs = repository.join(path);
            !theirs.join(".git").exists() || !git.has_commit(&theirs, commit).unwrap_or(false)
        });
        dangling.map(|(path, _)| path.display().to_string()).collect()
    }

    /// Symbolic links that lead to the directory beside this workspace, or into another one.
    pub(super) fn astray(&self, workspace: &Path) -> Vec<String> {
        let Some(root) = workspace.parent() else { return Vec::new() };
        let leads_there = |(path, target): &&(PathBuf, PathBuf)| {
            let parent = path.parent().unwrap_or(Path::new(""));
            let is_inside = normalised(&parent.join(target)).is_some();
            let whole = normalised(&workspace.join(parent).join(target));
            whole.is_some_and(|whole| whole.starts_with(root)) && (target.is_absolute() || !is_inside)
        };
        self.symlinks.iter().filter(leads_there).map(|(path, _)| path.display().to_string()).collect()
    }

    pub(super) fn into_findings(self, findings: Findings) -> Findings {
        Findings {
            base: Some(self.base),
            head: Some(self.head),
            commits: self.commits,
            changed: self.changed,
            lines: self.lines,
            binaries: self.binaries,
            secrets: self.secrets,
            unmerged: findings.unmerged.into_iter().chain(self.unmerged).collect::<BTreeSet<_>>().into_iter().collect(),
            deleted: self.deletions.0,
            files: self.deletions.1,
            ..findings
        }
    }
}

/// Without `.` and `..`; `None` for what leads out of where it begins.
fn normalised(path: &Path) -> Option<PathBuf> {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if !whole.pop() => return None,
            Component::ParentDir => {}
            other => whole.push(other),
        }
    }
    Some(whole)
}

/// What a commit changes since another.
pub(super) fn read(git: &Git, directory: &Path, base: &str, head: &str) -> Result<Found, GitError> {
    let Step { trees: [before, after], is_direct } = git.step_between(directory, base, head)?;
    let stats = git.diff_stat_between(directory, base, head)?;
    let mut changed: Vec<String> = stats.iter().map(|file| file.path.display().to_string()).collect();
    changed.sort();
    let lines = stats.iter().filter_map(|file| file.lines).map(|lines| lines.added + lines.deleted).sum();
    let binaries = stats.iter().filter(|file| file.lines.is_none()).count();
    let emptied = stats.iter().filter(|file| file.is_emptied).count();
    let deletions = if emptied > 0 || stats.iter().any(|file| file.is_gone) {
        let (deleted, files) = git.deletions(directory, base, head)?;
        (deleted.saturating_add(u64::try_from(emptied).unwrap_or(u64::MAX)), files)
    } else {
        (0, 0)
    };
    let (commits, secrets, unmerged) = if is_direct {
        let (secrets, unmerged) = scan_one_commit(git, directory, base, head)?;
        (1, secrets, unmerged)
    } else {
        let commits = git.commits_between(directory, base, head)?;
        (commits.len(), secrets_of(git, directory, &commits)?, unmerged_between(git, directory, base, head)?)
    };
    let linked = stats.iter().filter(|file| file.is_symlink);
    let symlinks = linked.map(|file| Ok((file.path.clone(), git.symlink_target(directory, head, &file.path)?)));
    let symlinks = symlinks.collect::<Result<Vec<_>, GitError>>()?;
    let commit = |commit: &str, tree| Commit { commit: commit.to_owned(), tree };
    Ok(Found {
        commits: u32::try_from(commits).unwrap_or(u32::MAX),
        base: commit(base, before),
        head: commit(head, after),
        changed,
        lines,
        binaries: u32::try_from(binaries).unwrap_or(u32::MAX),
        secrets,
        unmerged,
        deletions,
        symlinks,
        links: stats.into_iter().filter_map(|file| Some((file.path, file.link?))).collect(),
    })
}

/// Of a single commit, what it changes is also all that was changed.
fn scan_one_commit(
    git: &Git,
    directory: &Path,
    base: &str,
    head: &str,
) -> Result<(Vec<Secret>, Vec<String>), GitError> {
    let (mut secrets, mut conflicts) = (SecretScanner::default(), ConflictScanner::default());
    git.scan_diff(directory, base, head, &mut |line| {
        if !secrets.is_full() {
            let _ = secrets.line(line);
        }
        conflicts.line(line)
    })?;
    Ok((secrets.found(), conflicts.found()))
}

/// In every commit, and not only in what they come to: what was deleted later is still in the history.
pub(super) fn secrets_of(git: &Git, directory: &Path, commits: &[String]) -> Result<Vec<Secret>, GitError> {
    let mut scanner = SecretScanner::default();
    for commit in commits {
        git.scan_commit(directory, commit, &mut |line| scanner.line(line))?;
        if scanner.is_full() {
            break;
        }
    }
    Ok(scanner.found())
}

pub(super) fn secrets_between(git: &Git, directory: &Path, base: &str, head: &str) -> Result<Vec<Secret>, GitError> {
    let mut scanner = SecretScanner::default();
    git.scan_diff(directory, base, head, &mut |line| scanner.line(line))?;
    Ok(scanner.found())
}

fn unmerged_between(git: &Git, directory: &Path, base: &str, head: &str) -> Result<Vec<String>, GitError> {
    let mut scanner = ConflictScanner::default();
    git.scan_diff(directory, base, head, &mut |line| scanner.line(line))?;
    Ok(scanner.found())
}

/// For work in place: the verify commands run where the command ran.
async fn check_in_place(
    context: &Context,
    record: &TaskRecord,
    directory: &Path,
    life: &Life,
) -> Result<Vec<Check>, String> {
    let task = &record.task;
    let mut checks = Vec::new();
    for (number, command) in task.spec.verify.iter().enumerate() {
        let log = log_dir(context, &task.id).join(format!("{}.verify-{}", task.epoch, number + 1));
        let running = run_check(context, record, command.clone(), directory.to_owned(), log);
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

#[cfg(test)]
mod tests {
    use super::super::place::git;
    use super::*;
    use shuntyard_host::git::Author;

    #[test]
    fn a_secret_is_found_in_the_first_commit_of_a_history_and_after_it_was_deleted() {
        let scratch = shuntyard_testkit::Scratch::of_test();
        let (git, top) = (git(), scratch.path());
        git.init(top).unwrap();
        let author = Author { name: "A Tester".to_owned(), email: "tester@example.invalid".to_owned() };
        let save = |text: &str| {
            std::fs::write(top.join("keys"), text).unwrap();
            git.commit_all(top, "work", &author).unwrap().unwrap()
        };
        let commits = [save("KEY=sk-proj-0123456789abcdefghij\n"), save("none\n")];
        let found = secrets_of(&git, top, &commits).unwrap();
        assert_eq!(found.iter().map(|secret| (secret.path.as_str(), secret.line)).collect::<Vec<_>>(), [("keys", 1)]);
        assert!(secrets_between(&git, top, &git.empty_tree(top).unwrap(), &commits[1]).unwrap().is_empty());
    }
}
