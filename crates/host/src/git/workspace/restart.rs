//! Before the next attempt: the workspace is put on its branch with the work so far, on the newest base.

use std::path::{Path, PathBuf};

use super::super::{Author, Git, GitError, Rebased, path_of, records, within};
use super::archive::archive_in;
use super::collect::remove_locks;
use super::copies::{Files, copy_tree};
use super::create::{own_names, same, sources};
use super::{Record, SOURCE, WORK, Workspace, file_error, read_record, remove_any, write_record};

/// Whether the work so far could be put on another base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Restarted {
    Ready,
    /// The workspace is on its branch, with the work so far, on the old base.
    Conflict {
        paths: Vec<PathBuf>,
    },
}

/// What git keeps of an operation that is not finished. Its commits were kept when the attempt was collected.
const UNFINISHED: [&str; 12] = [
    "MERGE_HEAD",
    "MERGE_MSG",
    "MERGE_MODE",
    "AUTO_MERGE",
    "CHERRY_PICK_HEAD",
    "REVERT_HEAD",
    "REBASE_HEAD",
    "rebase-merge",
    "rebase-apply",
    "sequencer",
    "BISECT_START",
    "BISECT_LOG",
];

impl Workspace {
    /// Goes on from the collected work. `base` is a commit of the user's repository; when it is another one than
    /// before, the work is rebased onto it.
    pub fn restart(&mut self, base: &str, author: &Author) -> Result<Restarted, GitError> {
        self.git.await_stragglers()?;
        self.undo_setup()?;
        self.undo_restart(&self.git()?)?;
        (self.record.restarting, self.record.setting_up) = (true, false);
        self.save_record()?;
        let git = self.git()?;
        self.check_out_work(&git)?;
        let restarted = self.rebase_work(&git, base, author)?;
        self.record.restarting = false;
        self.save_record()?;
        Ok(restarted)
    }

    fn rebase_work(&mut self, git: &Git, base: &str, author: &Author) -> Result<Restarted, GitError> {
        if base == self.record.base {
            return Ok(Restarted::Ready);
        }
        match git.rebase_from(&self.directory, &self.record.base, base, author)? {
            Rebased::Done { .. } | Rebased::UpToDate => {
                base.clone_into(&mut self.record.base);
                Ok(Restarted::Ready)
            }
            Rebased::Conflict { paths } | Rebased::Dirty { paths } => Ok(Restarted::Conflict { paths }),
        }
    }

    /// After a death in a restart: the workspace is on its branch again, with the work so far. Everything that git does
    /// not ignore was part of the work when the restart began, so any other file was written by the restart.
    pub(super) fn undo_restart(&self, git: &Git) -> Result<(), GitError> {
        let Some(record) = self.interrupted() else { return Ok(()) };
        remove_locks(&self.git_dir());
        self.check_out_work(git)?;
        let words = ["ls-files", "-z", "--others", "--exclude-standard", "--full-name", "--", ":/"];
        let strays = git.succeed(&within(&self.directory, &words))?;
        for path in records(&strays).filter(|path| !path.ends_with(b"/")).map(path_of) {
            remove_any(&self.directory.join(path))?;
        }
        write_record(&self.admin(), &Record { restarting: false, ..record })
    }

    /// The record of a restart that was cut off, as it is on the disk: the one in memory may be older.
    fn interrupted(&self) -> Option<Record> {
        read_record(&self.admin()).filter(|record| record.restarting)
    }

    fn check_out_work(&self, git: &Git) -> Result<(), GitError> {
        let work = self.collected()?.unwrap_or_else(|| self.record.base.clone());
        for name in UNFINISHED {
            remove_any(&self.git_dir().join(name))?;
        }
        let branch = format!("refs/heads/{}", self.record.branch);
        self.remove_obstacles(git, &branch)?;
        git.succeed(&["symbolic-ref", "HEAD", &branch])?;
        git.succeed(&["update-ref", "--no-deref", &branch, &work])?;
        git.succeed(&within(&self.directory, &["reset", "--hard", "--quiet"])).map(drop)
    }

    /// Branches of an attempt that are in the way of the workspace's own, such as `a` of `a/b`. Their commits are kept.
    fn remove_obstacles(&self, git: &Git, branch: &str) -> Result<(), GitError> {
        let is_above = |name: &str| branch.strip_prefix(name).is_some_and(|rest| rest.starts_with('/'));
        let is_below = |name: &str| name.strip_prefix(branch).is_some_and(|rest| rest.starts_with('/'));
        for (name, _) in git.references(&self.directory, &["refs/heads/"])? {
            if is_above(&name) || is_below(&name) {
                git.succeed(&["update-ref", "--no-deref", "-d", &name])?;
            }
        }
        Ok(())
    }

    /// The same with a base that may have to be brought here first.
    pub fn restart_from(&mut self, repository: &Path, base: &str, author: &Author) -> Result<Restarted, GitError> {
        self.git.await_stragglers()?;
        self.refresh(repository)?;
        if base != self.record.base {
            self.bring_base(repository, base)?;
        }
        self.restart(base, author)
    }

    /// Brings branches and tags to where they are in the user's repository. What the attempts left is kept by now.
    fn refresh(&self, repository: &Path) -> Result<(), GitError> {
        let common = self.git.common_directory(repository)?;
        self.pin_borrowed(repository)?;
        let mut mirrored = vec![same("heads"), same("tags"), same("remotes")];
        mirrored.extend(own_names(&self.record.branch));
        let git = self.git()?;
        match git.fetch_refs(&common, &mirrored).and_then(|()| git.fetch_refs(&common, &sources(&self.record.branch))) {
            // A branch of an attempt can be in the way of a name. The attempt then sees the branches as they were.
            Err(error @ GitError::Failed { .. }) => {
                let workspace = self.directory.display();
                tracing::warn!(%error, %workspace, "branches and tags of a workspace are not those of its repository");
                Ok(())
            }
            refreshed => refreshed,
        }
    }

    /// Puts other work of the user's repository, after the same base, in the place of what is here.
    pub fn adopt(&mut self, repository: &Path, commit: &str) -> Result<(), GitError> {
        self.git.await_stragglers()?;
        self.undo_restart(&self.git()?)?;
        self.bring_base(repository, commit)?;
        let git = self.git()?;
        if !git.is_ancestor(&self.directory, &self.record.base, commit)? {
            let wanted = format!("{commit} comes after the base {}", self.record.base);
            return Err(GitError::Unproven { command: "git merge-base", wanted });
        }
        self.record.restarting = true;
        self.save_record()?;
        git.succeed(&["update-ref", WORK, commit])?;
        self.check_out_work(&git)?;
        self.record.restarting = false;
        self.save_record()
    }

    /// Brings a commit of the user's repository here, to be a base.
    pub fn bring_base(&self, repository: &Path, commit: &str) -> Result<(), GitError> {
        let name = self.git.pin(repository, &self.record.owner, commit)?;
        self.pin_borrowed(repository)?;
        let common = self.git.common_directory(repository)?;
        let lfs = common.join("lfs/objects");
        copy_tree(&lfs, &self.git_dir().join("lfs/objects"), Files::Linked)
            .map_err(|source| file_error("copy", &lfs, source))?;
        let refspec = [format!("+{name}:{SOURCE}/base")];
        if let Some(archive) = self.archive_git()? {
            // Of a git that was killed here.
            remove_locks(&archive_in(&self.admin()));
            archive.fetch_refs(&common, &refspec)?;
        }
        self.git()?.fetch_refs(&common, &refspec)
    }
}
