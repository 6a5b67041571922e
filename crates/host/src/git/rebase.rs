//! Putting a working tree's commits on top of another commit.
//!
//! Invariant: afterwards the working tree is either on the new commits or as it was before, and never in between. One
//! that a dead process left in between is restored first.

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
/// wanted of an unattended rebase.
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
    /// Rebases what is checked out, only the commits after `from`: what the base lost in the meantime does not come
    /// back. The authors of the commits stay; `committer` is who made them anew. The user's hooks are not run.
    ///
    /// Git drops merge commits, with what was resolved or added in them. When there is one after `from`, one commit
    /// with the content of all is rebased instead.
    pub fn rebase_from(
        &self,
        worktree: &Path,
        from: &str,
        onto: &str,
        committer: &Author,
    ) -> Result<Rebased, GitError> {
        let (from, onto) = (self.commit_of(worktree, from)?, self.commit_of(worktree, onto)?);
        // A lock that is older than any call may be was left by the dead.
        self.end_rebase(worktree, self.idle_deadline)?;
        if self.is_ancestor(worktree, &onto, "HEAD")? && self.is_ancestor(worktree, &from, &onto)? {
            return Ok(Rebased::UpToDate);
        }
        let paths = self.changed_tracked(worktree)?;
        if !paths.is_empty() {
            return Ok(Rebased::Dirty { paths });
        }
        let before = (self.current_branch(worktree)?, self.head(worktree)?);
        let (from, single) = match self.without_merges(worktree, &from, &onto, committer)? {
            Some((parent, single)) => (parent, Some(single)),
            None => (from, None),
        };
        if let Some(single) = &single {
            // The content is the same, so neither the index nor a file changes.
            self.succeed(&alone(worktree, &["update-ref", "-m", "rebase: merges", "HEAD", single]))?;
        }
        let Err(error) = self.run_rebase(worktree, &from, &onto, committer) else {
            return self.proven(worktree, &onto, before.0.as_deref());
        };
        let paths = self.unmerged(worktree)?;
        // All that was started is dead by now, so a lock has no owner.
        self.end_rebase(worktree, Duration::ZERO)?;
        if let (Some(single), Some(head)) = (&single, &before.1) {
            self.succeed(&alone(worktree, &["update-ref", "-m", "rebase: aborted", "HEAD", head, single]))?;
        }
        if (self.current_branch(worktree)?, self.head(worktree)?) != before {
            return Err(GitError::Unproven { command: "git rebase --abort", wanted: "all is as before".to_owned() });
        }
        match error {
            GitError::Failed { .. } if !paths.is_empty() => Ok(Rebased::Conflict { paths }),
            error => Err(error),
        }
    }

    /// One commit with the content of what is checked out, and its parent; `None` when no merge is in the way.
    fn without_merges(
        &self,
        worktree: &Path,
        from: &str,
        onto: &str,
        committer: &Author,
    ) -> Result<Option<(String, String)>, GitError> {
        let range = format!("{from}..HEAD");
        if self.commits(worktree, &["--merges", "--max-count=1", &range])?.is_empty() {
            return Ok(None);
        }
        // What was merged of the new base is not part of the change.
        let forward = self.is_ancestor(worktree, from, onto)? || !self.is_ancestor(worktree, from, "HEAD")?;
        let parent =
            if forward { self.line(&alone(worktree, &["merge-base", onto, "HEAD"]))? } else { from.to_owned() };
        let log = |words: &[&str]| -> Result<String, GitError> {
            let listed = self.succeed(&alone(worktree, &[&["log", "--no-show-signature"], words].concat()))?;
            Ok(String::from_utf8_lossy(&listed).trim().to_owned())
        };
        let subjects = log(&["--no-merges", "--reverse", "--max-count=100", "--format=%s", &range])?;
        let message = match subjects.split_once('\n') {
            Some((first, others)) => format!("{first}\n\n{others}"),
            None if subjects.is_empty() => log(&["--max-count=1", "--format=%s", "HEAD"])?,
            None => subjects,
        };
        let mut git = self.clone();
        for (name, field, own) in [("NAME", "%an", &committer.name), ("EMAIL", "%ae", &committer.email)] {
            let author = log(&["--max-count=1", &format!("--format={field}")])?;
            // Git reads a commit without an author and makes none.
            let author = if author.is_empty() { own } else { &author };
            git.variables.push((format!("GIT_AUTHOR_{name}").into(), author.into()));
            git.variables.push((format!("GIT_COMMITTER_{name}").into(), own.into()));
        }
        let words = ["commit-tree", "--no-gpg-sign", "-p", &parent, "-m", &message, "HEAD^{tree}"];
        let single = git.line(&alone(worktree, &words))?;
        Ok(Some((parent, single)))
    }

    fn run_rebase(&self, worktree: &Path, from: &str, onto: &str, committer: &Author) -> Result<(), GitError> {
        let mut signed = self.clone();
        signed.variables.push(("GIT_COMMITTER_NAME".into(), committer.name.clone().into()));
        signed.variables.push(("GIT_COMMITTER_EMAIL".into(), committer.email.clone().into()));
        let how = ["rebase", "--quiet", "--merge", "--no-autostash", "--no-gpg-sign", "--empty=drop"];
        let words: Vec<&str> = how.into_iter().chain(["--onto", onto, from]).collect();
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
