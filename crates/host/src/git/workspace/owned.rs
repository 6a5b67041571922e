//! What a task has in the user's repository: refs below a name of its own, and branches that it owns by record.
//!
//! Invariant: a branch of the user's repository is created or moved only when a ref of the task shows that the task
//! wrote what is there now. Any other branch of that name is not touched, and another name is chosen.

use std::collections::HashMap;
use std::path::Path;

use super::super::checkout::failed_at;
use super::super::deletion::remove_deletion_locks;
use super::super::journal::Administration;
use super::super::lock::RepositoryLock;
use super::super::operation;
use super::super::reference_move::{ReferenceMove, clear_reference_locks};
use super::super::remote::is_of_ended_process;
use super::super::{Expected, Git, GitError, Hold, Pushed, UpdateRefError, within};
use super::collect::{AT_ONCE, remove_locks, remove_ref_locks};
use super::copies::{Files, copy_tree};
use super::{KEPT, Workspace, file_error};

/// Names that are tried for a branch.
const NAMES: u32 = 1000;

/// The refs of a task in the user's repository begin with this.
#[must_use]
pub fn owned_namespace(owner: &str) -> String {
    format!("refs/shuntyard/tasks/{owner}")
}

/// Before the process that makes a clean checkout, for as long as that takes.
pub(super) const CHECK: &str = "check-";

fn delivered_name(owner: &str, head: &str) -> String {
    format!("{}/delivered/{head}", owned_namespace(owner))
}

/// A branch of the user's repository that has the work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Published {
    pub branch: String,
    /// Why it is not the usual name.
    pub instead_of: Option<String>,
}

/// Why a name is not used for a branch.
enum Refusal {
    Taken {
        why: String,
    },
    /// No branch of that name can be made beside the branches that there are.
    Obstructed {
        why: String,
    },
}

impl Workspace {
    /// Brings a commit of this workspace into the user's repository, as what is delivered for the work `head`.
    pub fn deliver_objects(&self, repository: &Path, head: &str, commit: &str) -> Result<(), GitError> {
        self.git.await_stragglers()?;
        // The repository is the one that was made, with the recorded configuration.
        self.git()?;
        // First: what the ref names is taken for delivered by the next process.
        self.share_lfs_objects(repository)?;
        // By its full name: no ref of the workspace can lead to another commit.
        self.fetch_into(repository, &[format!("+{commit}:{}", delivered_name(&self.record.owner, head))])
    }

    /// Large files that LFS keeps beside git go along.
    fn share_lfs_objects(&self, repository: &Path) -> Result<(), GitError> {
        let (ours, theirs) = (self.git_dir().join("lfs/objects"), self.git.common_directory(repository)?);
        let theirs = theirs.join("lfs/objects");
        copy_tree(&ours, &theirs, Files::Linked).map_err(|source| file_error("copy", &ours, source))
    }

    /// Brings every tip into the user's repository, so that the workspace can go.
    pub fn keep_everything(&self, repository: &Path) -> Result<(), GitError> {
        self.git.await_stragglers()?;
        remove_locks(&self.git_dir());
        self.keep_tips(&self.git()?, &mut HashMap::new())?;
        self.share_lfs_objects(repository)?;
        let name = format!("{}/kept", owned_namespace(&self.record.owner));
        self.fetch_into(repository, &[format!("+{KEPT}/*:{name}/*")])
    }

    /// Brings refs of this workspace into the user's repository, below the name of the task.
    fn fetch_into(&self, repository: &Path, refspecs: &[String]) -> Result<(), GitError> {
        let git = self.git.locked(repository)?;
        git.remove_owned_locks(repository, &self.record.owner)?;
        refspecs.chunks(AT_ONCE).try_for_each(|part| git.fetch_refs_into(repository, &self.git_dir(), part))
    }

    /// The same for the tips that are not part of this commit, which was delivered.
    pub fn keep_others(&self, repository: &Path, delivered: &str) -> Result<(), GitError> {
        let name = format!("{}/kept", owned_namespace(&self.record.owner));
        self.git.await_stragglers()?;
        let others = self.other_tips(delivered)?;
        if !others.is_empty() {
            self.share_lfs_objects(repository)?;
        }
        let refspecs: Vec<String> = others.iter().map(|(tip, commit)| format!("+{tip}:{name}/{commit}")).collect();
        self.fetch_into(repository, &refspecs)
    }

    pub fn has_other_tips(&self, than: &str) -> Result<bool, GitError> {
        Ok(!self.other_tips(than)?.is_empty())
    }

    fn other_tips(&self, than: &str) -> Result<Vec<(String, String)>, GitError> {
        let git = self.git()?;
        let mut others = Vec::new();
        for (name, commit) in git.references(&self.directory, &[&format!("{KEPT}/")])? {
            if commit != than && !git.is_ancestor(&self.directory, &commit, than)? {
                others.push((name, commit));
            }
        }
        Ok(others)
    }
}

impl Git {
    /// What was brought into the user's repository for this work, perhaps by a process that died after it.
    pub fn delivered_objects(&self, repository: &Path, owner: &str, head: &str) -> Result<Option<String>, GitError> {
        self.reference_commit(repository, &delivered_name(owner, head))
    }

    /// The commit that a local branch is at, and the same as [`Git::delivered_objects`].
    pub fn branch_and_delivered(
        &self,
        repository: &Path,
        branch: &str,
        owner: &str,
        head: &str,
    ) -> Result<(Option<String>, Option<String>), GitError> {
        let names = [format!("refs/heads/{branch}"), delivered_name(owner, head)];
        let found = self.references(repository, &names.each_ref().map(String::as_str))?;
        let mut found: HashMap<String, String> = found.into_iter().collect();
        Ok((found.remove(&names[0]), found.remove(&names[1])))
    }

    /// Makes a branch at the commit, or moves the one that this task made before.
    pub fn publish_branch(
        &self,
        repository: &Path,
        owner: &str,
        wanted: &str,
        commit: &str,
    ) -> Result<Published, GitError> {
        let lock = self.lock(repository)?;
        let share = lock.share().map_err(failed_at(repository))?;
        let git = Self { hold: Some(Hold::of(share)), ..self.clone() };
        clear_reference_locks(&self.common_directory(repository)?).map_err(failed_at(repository))?;
        self.remove_owned_locks(repository, owner)?;
        let checked_out: Vec<String> =
            self.worktree_list(repository)?.into_iter().filter_map(|tree| tree.branch).collect();
        let (mut stem, mut number, mut first_reason) = (wanted.to_owned(), 1, None);
        while number <= NAMES {
            let branch = if number == 1 { stem.clone() } else { format!("{stem}-{number}") };
            let Some(refusal) = git.claim_branch(&lock, repository, owner, &branch, commit, &checked_out)? else {
                let instead_of = first_reason.map(|why| format!("{wanted} is not used: {why}"));
                return Ok(Published { branch, instead_of });
            };
            let flat = wanted.replace('/', "-");
            (stem, number) = match &refusal {
                // All names that begin like this one can be impossible.
                Refusal::Obstructed { .. } if stem != flat => (flat, 1),
                Refusal::Obstructed { .. } | Refusal::Taken { .. } => (stem, number + 1),
            };
            let (Refusal::Obstructed { why } | Refusal::Taken { why }) = refusal;
            first_reason = first_reason.or(Some(why));
        }
        Err(GitError::Unproven { command: "git update-ref", wanted: format!("a name like {wanted} is free") })
    }

    /// `None` when the branch now is at the commit.
    fn claim_branch(
        &self,
        lock: &RepositoryLock,
        repository: &Path,
        owner: &str,
        branch: &str,
        commit: &str,
        checked_out: &[String],
    ) -> Result<Option<Refusal>, GitError> {
        let taken = |why: &str| Ok(Some(Refusal::Taken { why: why.to_owned() }));
        let (full, record) = (format!("refs/heads/{branch}"), format!("{}/branch/{branch}", owned_namespace(owner)));
        let (at, written) = (self.reference_commit(repository, &full)?, self.reference_commit(repository, &record)?);
        let expected = match (&at, &written) {
            (None, _) => Expected::Absent,
            // Moved, and not recorded any more.
            (Some(at), Some(written)) if at == commit => {
                self.keep_written(repository, owner, written, commit)?;
                self.succeed(&within(repository, &["update-ref", "--end-of-options", &record, commit]))?;
                return Ok(None);
            }
            (Some(at), Some(written)) if at == written && checked_out.iter().any(|name| name == branch) => {
                return taken("it is checked out");
            }
            (Some(at), Some(written))
                if at == written && operation::holding(&self.common_directory(repository)?, &full).is_some() =>
            {
                return taken("a rebase or bisect in progress needs it");
            }
            (Some(at), Some(written)) if at == written => Expected::At(at),
            (Some(_), Some(_)) => return taken("it was changed since this task wrote it"),
            (Some(_), None) => return taken("it was not made for this task"),
        };
        if let Some(written) = &written {
            self.keep_written(repository, owner, written, commit)?;
        }
        if at.is_none() {
            if let Some(other) = self.obstructing(repository, branch)? {
                return Ok(Some(Refusal::Obstructed { why: format!("the branch {other} is in the way of its name") }));
            }
            self.succeed(&within(repository, &["update-ref", "--end-of-options", &record, commit]))?;
        }
        let refusal = match self.move_owned(lock, repository, &full, commit, expected) {
            Ok(()) => None,
            Err(UpdateRefError::Moved { .. }) => Some(Refusal::Taken { why: "it was changed a moment ago".to_owned() }),
            // It was made a moment ago, or git cannot read it.
            Err(UpdateRefError::Git(GitError::Failed { stderr, .. }))
                if at.is_none() && stderr.contains("; cannot create") =>
            {
                Some(Refusal::Obstructed { why: "another branch is in the way of its name".to_owned() })
            }
            Err(UpdateRefError::Git(error)) => return Err(error),
        };
        if refusal.is_some() {
            if written.is_none() {
                self.delete_ref(repository, &record, Some(commit))?;
            }
            return Ok(refusal);
        }
        self.succeed(&within(repository, &["update-ref", "--end-of-options", &record, commit]))?;
        Ok(None)
    }

    /// A branch `a` is in the way of `a/b`, and the other way round.
    fn obstructing(&self, repository: &Path, branch: &str) -> Result<Option<String>, GitError> {
        let above = Path::new(branch).ancestors().skip(1).filter_map(Path::to_str).filter(|name| !name.is_empty());
        for name in above {
            if self.branch_commit(repository, name)?.is_some() {
                return Ok(Some(name.to_owned()));
            }
        }
        let below = self.references(repository, &[&format!("refs/heads/{branch}/")])?;
        Ok(below.first().and_then(|(name, _)| name.strip_prefix("refs/heads/")).map(str::to_owned))
    }

    /// Keeps what a branch of the task had, before its record goes to a commit that does not contain it: the user may
    /// have deleted the branch, and then nothing else has it.
    fn keep_written(&self, repository: &Path, owner: &str, written: &str, new: &str) -> Result<(), GitError> {
        if self.is_ancestor(repository, written, new)? {
            return Ok(());
        }
        let kept = format!("{}/kept/{written}", owned_namespace(owner));
        self.succeed(&within(repository, &["update-ref", "--end-of-options", &kept, written])).map(drop)
    }

    /// As [`Git::update_ref`], and a lock that a killed git leaves of it is removed by the next call.
    fn move_owned(
        &self,
        lock: &RepositoryLock,
        repository: &Path,
        reference: &str,
        to: &str,
        expected: Expected<'_>,
    ) -> Result<(), UpdateRefError> {
        let place = Administration { directory: self.own_directory(repository)? };
        let common = self.common_directory(repository)?;
        let from = match expected {
            Expected::At(commit) => commit,
            Expected::Absent => "",
        };
        let step = ReferenceMove { top: repository, place: &place, common: &common, reference, from, to };
        let moved = self.move_reference(lock, &step);
        self.or_moved(repository, reference, expected, moved)
    }

    /// Locks of a git that was killed. Only the process that has the task writes below its name.
    pub(super) fn remove_owned_locks(&self, repository: &Path, owner: &str) -> Result<(), GitError> {
        let common = self.common_directory(repository)?;
        remove_ref_locks(&common.join(owned_namespace(owner)));
        remove_deletion_locks(&common);
        Ok(())
    }

    /// Pushes a branch of this task. The remote's branch of that name is replaced only if it is what this task pushed.
    pub fn push_owned(&self, repository: &Path, remote: &str, owner: &str, branch: &str) -> Result<Pushed, GitError> {
        let record = format!("{}/pushed/{branch}", owned_namespace(owner));
        let before = self.reference_commit(repository, &record)?.unwrap_or_default();
        let commit = self.branch_commit(repository, branch)?.unwrap_or_default();
        match self.push_lfs_objects(repository, remote, branch)? {
            Pushed::Done => {}
            other => return Ok(other),
        }
        let push = |expected: &str| {
            let lease = format!("--force-with-lease=refs/heads/{branch}:{expected}");
            self.push_with(repository, remote, &[&lease], &format!("{commit}:refs/heads/{branch}"))
        };
        let mut pushed = push(&before)?;
        if matches!(pushed, Pushed::Rejected(_)) && !before.is_empty() {
            // A branch that was deleted there, as after a merge, overwrites nothing.
            pushed = push("")?;
        }
        if pushed == Pushed::Done {
            self.succeed(&within(repository, &["update-ref", "--end-of-options", &record, &commit]))?;
        }
        Ok(pushed)
    }

    /// Records that a branch was made for this task by an earlier release.
    pub fn own_branch(&self, repository: &Path, owner: &str, branch: &str, at: &str) -> Result<(), GitError> {
        let record = format!("{}/branch/{branch}", owned_namespace(owner));
        self.succeed(&within(repository, &["update-ref", "--end-of-options", &record, at])).map(drop)
    }

    /// Removes a branch of this task that is part of `into`. One that the user has changed or checked out stays.
    pub fn withdraw_branches(&self, repository: &Path, owner: &str, into: &str) -> Result<(), GitError> {
        let prefix = format!("{}/branch/", owned_namespace(owner));
        for (name, written) in self.references(repository, &[&prefix])? {
            let Some(branch) = name.strip_prefix(&prefix) else { continue };
            if self.branch_commit(repository, branch)?.as_deref() == Some(written.as_str()) {
                self.delete_branch_if_merged(repository, branch, into)?;
            }
            if self.branch_commit(repository, branch)?.is_none() {
                self.keep_written(repository, owner, &written, into)?;
                self.delete_ref(repository, &name, None)?;
            }
        }
        Ok(())
    }

    /// Removes the refs that only served a workspace, once that is gone.
    pub fn forget_workspace(&self, repository: &Path, owner: &str) -> Result<(), GitError> {
        let namespace = owned_namespace(owner);
        let served = ["delivered/", "base", "borrowed/"].map(|kind| format!("{namespace}/{kind}"));
        for (name, _) in self.references(repository, &served.each_ref().map(String::as_str))? {
            self.delete_ref(repository, &name, None)?;
        }
        // Those of a clean checkout that was cut off.
        let check = format!("{namespace}/{CHECK}");
        for (name, _) in self.references(repository, &[&format!("{check}*")])? {
            if name.strip_prefix(&check).is_some_and(is_of_ended_process) {
                self.delete_ref(repository, &name, None)?;
            }
        }
        Ok(())
    }

    /// Full names and commits of the refs below some prefixes.
    pub(in crate::git) fn references(
        &self,
        repository: &Path,
        below: &[&str],
    ) -> Result<Vec<(String, String)>, GitError> {
        let words = ["for-each-ref", "--format=%(refname) %(objectname)", "--end-of-options"];
        let listed = self.succeed(&within(repository, &[&words[..], below].concat()))?;
        let text = String::from_utf8_lossy(&listed);
        Ok(text.lines().filter_map(|line| line.rsplit_once(' ')).map(|(a, b)| (a.to_owned(), b.to_owned())).collect())
    }

    pub(in crate::git) fn fetch_refs_into(&self, at: &Path, from: &Path, refspecs: &[String]) -> Result<(), GitError> {
        let mut args = within(at, &FETCH);
        args.extend([std::ffi::OsStr::new("--"), from.as_os_str()]);
        args.extend(refspecs.iter().map(std::ffi::OsStr::new));
        self.allowing_local().succeed(&args).map(drop)
    }

    /// Also for a user whose environment forbids repositories on the same machine, which holds over settings.
    pub(super) fn allowing_local(&self) -> Self {
        let mut git = self.clone();
        git.variables.push(("GIT_ALLOW_PROTOCOL".into(), "file".into()));
        git
    }
}

/// Some users forbid git to fetch from repositories on the same machine; these are our own.
pub(super) const FROM_HERE: &str = "protocol.file.allow=always";

/// Nothing but the named refs changes in the repository that fetches.
pub(super) const FETCH: [&str; 16] = [
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "fetch.prune=false",
    "-c",
    FROM_HERE,
    // The protocol in which a commit can be asked for that no ref is at.
    "-c",
    "protocol.version=2",
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-recurse-submodules",
    "--no-prune",
    "--force",
];
