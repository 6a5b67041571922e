//! The archive of a workspace: a bare repository in its admin directory, where the git of an agent does not reach, with
//! every tip that was ever collected.
//!
//! Invariant: what a collection has kept is in the archive when the collection ends. Whatever an attempt does to the
//! repository of its workspace, refs and objects come back from there. The archive is complete or absent.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::{Git, GitError, within};
use super::collect::{AT_ONCE, remove_locks};
use super::copies::{Files, copy_repository, copy_tree};
use super::tips::{is_hex, tips};
use super::{IDENTITY, KEPT, WORK, Workspace, admin_of, beside, file_error, remove_any};
use crate::clock::now_micros;
use crate::paths::private_dir;

/// Tips of a repository that was in the place of the workspace's own.
const REPLACED: &str = "refs/shuntyard/replaced";

pub(super) fn archive_in(admin: &Path) -> PathBuf {
    admin.join("archive")
}

/// Makes the archive of a repository. Repeated after a death, it begins anew.
pub(super) fn make_archive(git_dir: &Path, admin: &Path) -> Result<(), GitError> {
    let draft = admin.join("archive.new");
    remove_any(&draft)?;
    let make = || {
        copy_repository(git_dir, &draft)?;
        fs::rename(&draft, archive_in(admin))
    };
    make().map_err(|source| file_error("make", &draft, source))
}

/// Our refs, and here those of remotes, by their names, when a collection begins.
#[derive(Debug, Default)]
pub(super) struct OwnRefs {
    pub(super) here: HashMap<String, String>,
    archived: HashMap<String, String>,
}

impl Workspace {
    fn archive(&self) -> PathBuf {
        archive_in(&self.admin())
    }

    /// Git, bound to the archive; `None` when there is none, as in a workspace of an earlier release.
    pub(super) fn archive_git(&self) -> Result<Option<Git>, GitError> {
        let archive = self.archive();
        archive.is_dir().then(|| self.git.bound_to(&archive, None)).transpose()
    }

    /// Whether work can go on here: the repository is intact, or it can be made anew.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.git().is_ok() || matches!(self.archive_git(), Ok(Some(_)))
    }

    /// Copies every tip that was kept into the archive, unless its refs show that it has them all.
    pub(super) fn save_to_archive(&self, refs: &OwnRefs) -> Result<(), GitError> {
        let (archive, git_dir) = (self.archive(), self.git_dir());
        if self.archive_git()?.is_none() {
            make_archive(&git_dir, &self.admin())?;
        }
        let kept = format!("{KEPT}/");
        let mut wanted = refs.here.iter().filter(|(name, _)| *name == WORK || name.starts_with(&kept));
        if wanted.any(|(name, at)| refs.archived.get(name) != Some(at)) {
            remove_locks(&archive);
            let git = self.git.bound_to(&archive, None)?;
            git.fetch_refs(&git_dir, &[format!("+{WORK}:{WORK}"), format!("+{KEPT}/*:{KEPT}/*")])?;
        }
        let (ours, theirs) = (git_dir.join("lfs/objects"), archive.join("lfs/objects"));
        copy_tree(&ours, &theirs, Files::Linked).map_err(|source| file_error("copy", &ours, source))
    }

    /// Brings back what an attempt has removed of our refs, with the commits behind them.
    pub(super) fn restore_refs(&self, git: &Git) -> Result<OwnRefs, GitError> {
        let below = |git: &Git, names: &[&str]| git.references(&self.directory, names).map(HashMap::from_iter);
        let mut refs = OwnRefs { here: below(git, &["refs/shuntyard/", "refs/remotes/"])?, ..OwnRefs::default() };
        let Some(archive) = self.archive_git()? else { return Ok(refs) };
        refs.archived = below(&archive, &["refs/shuntyard/"])?;
        let lost = refs.archived.keys().filter(|name| !refs.here.contains_key(*name));
        let lost: Vec<String> = lost.map(|name| format!("+{name}:{name}")).collect();
        for part in lost.chunks(AT_ONCE) {
            git.fetch_refs(&self.archive(), part)?;
        }
        for (name, at) in &refs.archived {
            refs.here.entry(name.clone()).or_insert_with(|| at.clone());
        }
        Ok(refs)
    }

    /// Whether objects that refs lead to are missing.
    pub(super) fn is_damaged(&self) -> bool {
        let Ok(git) = self.git() else { return true };
        let words = ["fsck", "--connectivity-only", "--no-dangling", "--no-progress"];
        matches!(git.finish(&within(&self.directory, &words)), Ok(done) if done.status.code().is_some_and(|code| code != 0))
    }

    /// Makes the repository anew from the archive, on the branch with the work so far. What is in its place goes to the
    /// admin directory, and its branches are brought along. `false` when there is no archive.
    pub(super) fn rebuild(&self) -> Result<bool, GitError> {
        let Some(replaced) = self.exchange_repository()? else { return Ok(false) };
        self.remove_dangling_links()?;
        if let Err(error) = self.bring_replaced(&replaced) {
            tracing::warn!(%error, "the branches of a repository that replaced a workspace's own were not kept");
        }
        Ok(true)
    }

    /// The same without its branches. Returns where the repository is that was in the place.
    pub(super) fn exchange_repository(&self) -> Result<Option<PathBuf>, GitError> {
        if self.archive_git()?.is_none() {
            return Ok(None);
        }
        let (git_dir, draft) = (self.git_dir(), self.admin().join("rebuilt"));
        self.copy_archive(&draft)?;
        let replaced = self.admin().join(format!("replaced-{}", now_micros()));
        let exchange = || {
            if git_dir.symlink_metadata().is_ok() {
                fs::rename(&git_dir, &replaced)?;
            }
            fs::rename(&draft, &git_dir)
        };
        exchange().map_err(|source| file_error("replace", &git_dir, source))?;
        if replaced.is_dir() && !replaced.is_symlink() {
            // The submodules' own repositories are not part of the archive.
            drop(fs::rename(replaced.join("modules"), git_dir.join("modules")));
        }
        Ok(Some(replaced))
    }

    /// A copy of the archive with the identity of this workspace.
    fn copy_archive(&self, draft: &Path) -> Result<(), GitError> {
        remove_any(draft)?;
        remove_locks(&self.archive());
        copy_repository(&self.archive(), draft).map_err(|source| file_error("copy", draft, source))?;
        let git = self.git.bound_to(draft, None)?;
        let branch = format!("refs/heads/{}", self.record.branch);
        let work = git.reference_commit(draft, WORK)?.unwrap_or_else(|| self.record.base.clone());
        git.succeed(&["update-ref", "--no-deref", &branch, &work])?;
        git.succeed(&["symbolic-ref", "HEAD", &branch])?;
        let place = draft.join(IDENTITY);
        fs::write(&place, &self.record.identity).map_err(|source| file_error("write", &place, source))
    }

    fn bring_replaced(&self, replaced: &Path) -> Result<(), GitError> {
        if !replaced.is_dir() || replaced.is_symlink() {
            return Ok(());
        }
        let git = self.git()?;
        let head = fs::read_to_string(replaced.join("HEAD")).unwrap_or_default();
        // Settings of an agent's are not used, not even to read what it made. Without a HEAD that git understands, its
        // branches could not be read at all.
        for name in ["config", "HEAD"] {
            super::replace_file(&replaced.join(name), &fs::read(self.git_dir().join(name)).unwrap_or_default())?;
        }
        let Ok(theirs) = self.git.bound_to(replaced, None) else { return Ok(()) };
        let name = format!("{REPLACED}/{}", now_micros());
        // Refs that cannot be read are no reason to lose the others, nor what nothing leads to any more.
        let fetched = git.fetch_refs(replaced, &[format!("+refs/*:{name}/*")]);
        // What only its HEAD or a log leads to is asked for by its name. Nothing is written there: links that an agent
        // made lead to the files of others.
        let head = Some(head.trim()).filter(|head| head.len() >= 40 && is_hex(head));
        let like = &self.record.base;
        let words: Vec<&str> = ["--all", "--reflog"].into_iter().chain(head).collect();
        let listed = theirs.all_tips(replaced, &words, &[], like).or_else(|error| match &error {
            GitError::Failed { .. } => theirs.all_tips(replaced, &[], &[], like),
            _ => Err(error),
        })?;
        let wanted: Vec<String> = tips(&listed).iter().map(|tip| format!("+{tip}:{name}/tips/{tip}")).collect();
        if wanted.is_empty() {
            return fetched;
        }
        wanted.chunks(AT_ONCE).try_for_each(|part| git.fetch_refs(replaced, part))
    }
}

impl Git {
    /// Makes a workspace anew whose directory is gone, when its archive is there: with the work that was collected.
    pub fn revive_workspace(&self, directory: &Path, owner: &str) -> Result<(), GitError> {
        let admin = admin_of(directory);
        let Some(record) = super::read_record(&admin).filter(|record| record.owner == owner) else { return Ok(()) };
        if directory.symlink_metadata().is_ok() || !archive_in(&admin).is_dir() {
            return Ok(());
        }
        let staging = beside(directory, &format!("new-{}-{}", std::process::id(), now_micros()));
        private_dir(&staging).map_err(|source| file_error("make", &staging, source))?;
        let workspace = Workspace::at(directory, record, self);
        workspace.copy_archive(&staging.join(".git"))?;
        let git = self.bound_to(&staging.join(".git"), Some(&staging))?;
        git.succeed(&within(&staging, &["reset", "--hard", "--quiet"]))?;
        fs::rename(&staging, directory).map_err(|source| file_error("rename", &staging, source))
    }
}
