//! Putting a working tree's commits on top of another commit.
//!
//! Invariant: afterwards the working tree is either on the new commits or as it was before, and never in between. One
//! that somebody's death left in between is put back first.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Author, Git, GitError, alone, path_of, records};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rebased {
    Done {
        head: String,
    },
    /// The other commit is in its history already.
    UpToDate,
    /// The working tree is as it was.
    Conflict {
        paths: Vec<PathBuf>,
    },
    /// Tracked files have changes that are not committed; nothing was done.
    Dirty {
        paths: Vec<PathBuf>,
    },
}

/// A user's settings can ask for other branches to be moved as well, for signatures and for stashing; none of that is
/// wanted of a rebase that nobody watches.
const PLAIN: [&str; 12] = [
    "-c",
    "rebase.updateRefs=false",
    "-c",
    "rebase.rebaseMerges=false",
    "-c",
    "rebase.autoStash=false",
    "-c",
    "rebase.autoSquash=false",
    "-c",
    "rerere.enabled=false",
    "-c",
    "commit.gpgSign=false",
];

impl Git {
    /// Rebases what is checked out. The authors of the commits stay; `committer` is who made them anew. The user's
    /// hooks are not run.
    pub fn rebase(&self, worktree: &Path, onto: &str, committer: &Author) -> Result<Rebased, GitError> {
        let onto = self.commit_of(worktree, onto)?;
        // A lock that is older than any call may be was left by the dead.
        self.end_rebase(worktree, self.deadline)?;
        if self.is_ancestor(worktree, &onto, "HEAD")? {
            return Ok(Rebased::UpToDate);
        }
        let paths = self.changed_tracked(worktree)?;
        if !paths.is_empty() {
            return Ok(Rebased::Dirty { paths });
        }
        let before = (self.current_branch(worktree)?, self.head(worktree)?);
        let Err(error) = self.run_rebase(worktree, &onto, committer) else {
            return self.proven(worktree, &onto, before.0.as_deref());
        };
        let paths = self.unmerged(worktree)?;
        // All that was started is dead by now, so a lock is nobody's.
        self.end_rebase(worktree, Duration::ZERO)?;
        if (self.current_branch(worktree)?, self.head(worktree)?) != before {
            return Err(GitError::Unproven { command: "git rebase --abort", wanted: "all is as before".to_owned() });
        }
        match error {
            GitError::Failed { .. } if !paths.is_empty() => Ok(Rebased::Conflict { paths }),
            error => Err(error),
        }
    }

    fn run_rebase(&self, worktree: &Path, onto: &str, committer: &Author) -> Result<(), GitError> {
        let mut signed = self.clone();
        signed.variables.push(("GIT_COMMITTER_NAME".into(), committer.name.clone().into()));
        signed.variables.push(("GIT_COMMITTER_EMAIL".into(), committer.email.clone().into()));
        let words = ["rebase", "--quiet", "--merge", "--no-autostash", "--no-gpg-sign", "--empty=drop", onto];
        let args: Vec<&OsStr> = PLAIN.iter().map(OsStr::new).chain(alone(worktree, &words)).collect();
        signed.succeed(&args).map(drop)
    }

    fn proven(&self, worktree: &Path, onto: &str, branch: Option<&str>) -> Result<Rebased, GitError> {
        let head = self.commit_of(worktree, "HEAD")?;
        let there = self.is_ancestor(worktree, onto, &head)? && self.current_branch(worktree)?.as_deref() == branch;
        if there && self.rebase_in_progress(worktree)?.is_none() {
            return Ok(Rebased::Done { head });
        }
        Err(GitError::Unproven { command: "git rebase", wanted: format!("the work is on top of {onto}") })
    }

    /// Puts back what a rebase that did not come to its end has changed; nothing when there is none.
    fn end_rebase(&self, worktree: &Path, lock_age: Duration) -> Result<(), GitError> {
        let Some(state) = self.rebase_in_progress(worktree)? else { return Ok(()) };
        remove_lock(&self.own_path(worktree, "index.lock")?, lock_age);
        let noted = |name: &str| std::fs::read_to_string(state.join(name)).unwrap_or_default().trim().to_owned();
        let onto = noted("onto");
        // Where it began is noted before anything is touched; without that there is nothing to put back.
        let how = if noted("orig-head").is_empty() { "--quit" } else { "--abort" };
        self.succeed(&alone(worktree, &["rebase", how]))?;
        self.remove_strays(worktree, &onto)
    }

    /// Files that a killed git wrote and never got to know would be in the way of the next rebase, or be taken for
    /// work. Only what the repository itself holds is deleted.
    fn remove_strays(&self, worktree: &Path, onto: &str) -> Result<(), GitError> {
        let top = self.toplevel(worktree)?.unwrap_or_else(|| worktree.to_owned());
        let words = ["ls-files", "-z", "--others", "--exclude-standard", "--full-name", "--", ":/"];
        let others = self.succeed(&alone(&top, &words))?;
        for path in records(&others).map(path_of) {
            if (!onto.is_empty() && self.is_as_in(&top, onto, &path)?) || self.is_merge_leftover(&top, &path)? {
                let _ = std::fs::remove_file(top.join(&path));
            }
        }
        Ok(())
    }

    /// For a merge program, git puts the versions of a file at the top under names of this kind.
    fn is_merge_leftover(&self, top: &Path, path: &Path) -> Result<bool, GitError> {
        if !path.to_str().is_some_and(|name| name.starts_with(".merge_file_") && !name.contains('/')) {
            return Ok(false);
        }
        let mut args = alone(top, &["hash-object", "--no-filters", "--"]);
        args.push(path.as_os_str());
        let object = self.line(&args)?;
        self.answer(&alone(top, &["cat-file", "-e", &object]))
    }

    fn rebase_in_progress(&self, worktree: &Path) -> Result<Option<PathBuf>, GitError> {
        for name in ["rebase-merge", "rebase-apply"] {
            let state = self.own_path(worktree, name)?;
            if state.exists() {
                return Ok(Some(state));
            }
        }
        Ok(None)
    }

    fn changed_tracked(&self, worktree: &Path) -> Result<Vec<PathBuf>, GitError> {
        let words = ["diff-index", "--name-only", "-z", "--no-renames", "--ignore-submodules=all", "HEAD", "--"];
        // A file that was only touched differs until git has looked into it.
        let refreshed = ["update-index", "-q", "--refresh"];
        let _ = self.finish(&alone(worktree, &refreshed))?;
        Ok(records(&self.succeed(&alone(worktree, &words))?).map(path_of).collect())
    }

    fn unmerged(&self, worktree: &Path) -> Result<Vec<PathBuf>, GitError> {
        let words = ["diff", "--name-only", "-z", "--diff-filter=U", "--no-relative", "--no-ext-diff"];
        Ok(records(&self.succeed(&alone(worktree, &words))?).map(path_of).collect())
    }
}

fn remove_lock(lock: &Path, age: Duration) {
    let old = |lock: &Path| lock.metadata().ok()?.modified().ok()?.elapsed().ok();
    if old(lock).is_some_and(|found| found >= age) {
        let _ = std::fs::remove_file(lock);
    }
}
