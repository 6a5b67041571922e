//! Where a TODO.md is shared: the branch, the remote that has it too, and who writes there.

use super::{ClaimFault, plumbing::remote_head};
use crate::{Context, base::hash::short_hash, in_thread};
use shuntyard_host::git::{Author, Git, GitError};
use std::path::{Path, PathBuf};

#[derive(Debug, Clone)]
pub(super) struct Shared {
    pub(super) git: Git,
    pub(super) repository: PathBuf,
    /// The local one. It need not be there when a remote has it.
    pub(super) branch: String,
    /// None: only the local branch counts.
    pub(super) remote: Option<Remote>,
    pub(super) author: Author,
    /// For drafts, of this store and this repository alone.
    pub(super) scratch: PathBuf,
}

/// What the branch is called elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Remote {
    pub(super) name: String,
    pub(super) branch: String,
}

impl Shared {
    /// Looks at the repository only; no remote is asked. Blocks.
    pub(super) fn find(context: &Context, repository: &Path, base: &str) -> Result<Self, ClaimFault> {
        let git = quiet_git();
        let (branch, remote) = branch_of(&git, repository, base)?;
        let configured = |key: &str| git.setting(repository, key).ok().flatten().filter(|value| !value.is_empty());
        let author = Author {
            name: configured("user.name").unwrap_or_else(|| "Shuntyard".to_owned()),
            email: configured("user.email").unwrap_or_else(|| "shuntyard@localhost".to_owned()),
        };
        let scratch = context.paths.data_dir.join("claims").join(short_hash(&repository.display().to_string()));
        Ok(Self { repository: repository.to_owned(), branch, remote, author, scratch, git })
    }

    /// The same without the remote: what is left when it cannot be reached.
    pub(super) fn alone(&self) -> Self {
        Self { remote: None, ..self.clone() }
    }

    /// As people call it, such as `origin/main`.
    pub(super) fn place(&self) -> String {
        match &self.remote {
            Some(remote) => format!("{}/{}", remote.name, remote.branch),
            None => self.branch.clone(),
        }
    }

    /// What work on this branch starts from.
    pub(super) fn base(&self) -> Result<String, GitError> {
        let here = self.git.branch_commit(&self.repository, &self.branch)?;
        Ok(if here.is_some() { self.branch.clone() } else { self.place() })
    }
}

/// The branch that a repository's TODO.md is shared on by default, found in a thread that may be blocked.
pub(super) async fn usual_base(repository: &Path) -> Result<String, ClaimFault> {
    let repository = repository.to_owned();
    in_thread(move || default_base(&repository)).await.map_err(ClaimFault::Io)?
}

/// The branch that a repository's TODO.md is shared on by default: the remote's own, else what is checked out.
pub(super) fn default_base(repository: &Path) -> Result<String, ClaimFault> {
    let git = Git::default();
    if let Some(remote) = usual(&git.remotes(repository)?)
        && let Some(branch) = remote_head(&git, repository, &remote)?
    {
        let here = git.branch_commit(repository, &branch)?;
        return Ok(if here.is_some() { branch } else { format!("{remote}/{branch}") });
    }
    git.current_branch(repository)?.ok_or_else(|| ClaimFault::NoBranch(repository.to_owned()))
}

fn branch_of(git: &Git, repository: &Path, base: &str) -> Result<(String, Option<Remote>), ClaimFault> {
    let remotes = git.remotes(repository)?;
    if git.branch_commit(repository, base)?.is_some() {
        let remote = tracked(git, repository, base, &remotes)?;
        return Ok((base.to_owned(), remote));
    }
    // `origin/main`, where `main` is not checked out.
    if let Some((name, branch)) = base.split_once('/')
        && remotes.iter().any(|remote| remote == name)
    {
        return Ok((branch.to_owned(), Some(Remote { name: name.to_owned(), branch: branch.to_owned() })));
    }
    // Work can start from any commit; claims need a branch.
    let no_branch = || ClaimFault::NoBranch(repository.to_owned());
    match usual(&remotes) {
        Some(name) => {
            let branch = remote_head(git, repository, &name)?.ok_or_else(no_branch)?;
            Ok((branch.clone(), Some(Remote { name, branch })))
        }
        None => Ok((git.current_branch(repository)?.ok_or_else(no_branch)?, None)),
    }
}

/// The branch that a local one follows, or else the one of the same name.
fn tracked(git: &Git, repository: &Path, branch: &str, remotes: &[String]) -> Result<Option<Remote>, GitError> {
    let upstream = git.setting(repository, &format!("branch.{branch}.remote"))?;
    if let Some(name) = upstream.filter(|name| remotes.contains(name)) {
        let merge = git.setting(repository, &format!("branch.{branch}.merge"))?;
        let there = merge.as_deref().and_then(|name| name.strip_prefix("refs/heads/")).unwrap_or(branch);
        return Ok(Some(Remote { name, branch: there.to_owned() }));
    }
    Ok(usual(remotes).map(|name| Remote { name, branch: branch.to_owned() }))
}

fn usual(remotes: &[String]) -> Option<String> {
    remotes.iter().find(|name| *name == "origin").or_else(|| remotes.first()).cloned()
}

/// Git without the repository's hooks, which are for people, and without housekeeping while a caller waits. What the
/// environment already sets in this way stays.
fn quiet_git() -> Git {
    let settings = [("core.hooksPath", "/dev/null"), ("gc.auto", "0"), ("maintenance.auto", "false")];
    settings.into_iter().fold(Git::default(), |git, (key, value)| git.with_setting(key, value))
}
