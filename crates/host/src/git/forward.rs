//! Moving a branch forward, and the working tree that is on it along with it.
//!
//! Invariant: the branch moves only from the commit that the caller has seen, and a file that somebody changed is
//! never overwritten: then nothing moves at all. A working tree that somebody's death left half moved is not
//! mistaken for such changes.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::changes::Submodules;
use super::{Expected, Git, GitError, UpdateRefError, Worktree, alone};

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FastForward {
    Done,
    AlreadyThere,
    /// The branch is elsewhere by now, or gone.
    Moved {
        at: Option<String>,
    },
    /// The new commit does not come after the old one.
    NotForward,
    /// A working tree is on the branch and has changes of its own in these files.
    CheckedOutDirty {
        path: PathBuf,
        files: Vec<PathBuf>,
    },
}

/// More files than that are not looked into one by one.
const MOST_LOOKED_INTO: usize = 500;

struct Step<'a> {
    repository: &'a Path,
    branch: &'a str,
    from: &'a str,
    to: &'a str,
}

impl Git {
    /// Moves a branch from one commit to a later one.
    pub fn fast_forward(&self, repository: &Path, branch: &str, from: &str, to: &str) -> Result<FastForward, GitError> {
        let _lock = self.lock(repository)?;
        let (from, to) = (&self.commit_of(repository, from)?, &self.commit_of(repository, to)?);
        let step = Step { repository, branch, from, to };
        let at = self.branch_commit(repository, branch)?;
        if at.as_ref() == Some(to) {
            return Ok(FastForward::AlreadyThere);
        }
        if at.as_ref() != Some(from) {
            return Ok(FastForward::Moved { at });
        }
        if !self.is_ancestor(repository, from, to)? {
            return Ok(FastForward::NotForward);
        }
        let trees = self.worktree_list(repository)?;
        let on_it = |tree: &&Worktree| tree.branch.as_deref() == Some(branch) && tree.prunable.is_none();
        match trees.iter().filter(on_it).collect::<Vec<_>>().as_slice() {
            [] => self.forward_alone(&step),
            [tree] => self.forward_with(&tree.path, &step),
            _ => {
                let wanted = format!("only one working tree is on {branch}");
                Err(GitError::Unproven { command: "git worktree list", wanted })
            }
        }
    }

    fn forward_alone(&self, step: &Step<'_>) -> Result<FastForward, GitError> {
        let name = format!("refs/heads/{}", step.branch);
        match self.update_ref(step.repository, &name, step.to, Expected::At(step.from)) {
            Ok(()) => Ok(FastForward::Done),
            Err(UpdateRefError::Moved { at, .. }) => Ok(FastForward::Moved { at }),
            Err(UpdateRefError::Git(error)) => Err(error),
        }
    }

    fn forward_with(&self, top: &Path, step: &Step<'_>) -> Result<FastForward, GitError> {
        let files = self.in_the_way(top, step)?;
        if !files.is_empty() {
            if !self.are_as_in(top, step.to, &files)? {
                return Ok(FastForward::CheckedOutDirty { path: top.to_owned(), files });
            }
            // They are what the new commit has: an earlier step died after writing them. Git accepts that once its
            // index says so.
            let mut args = alone(top, &["update-index", "--add", "--remove", "--"]);
            args.extend(files.iter().map(|file| file.as_os_str()));
            self.succeed(&args)?;
        }
        let plain = ["-c", "merge.autoStash=false"].map(OsStr::new);
        let words = ["merge", "--ff-only", "--quiet", "--no-stat", "--no-overwrite-ignore", step.to];
        let merged = self.succeed(&plain.into_iter().chain(alone(top, &words)).collect::<Vec<_>>());
        let at = self.branch_commit(step.repository, step.branch)?;
        let Err(error) = merged else { return self.proven_forward(top, step, at) };
        if at.as_deref() != Some(step.from) {
            return Ok(FastForward::Moved { at });
        }
        let files = self.in_the_way(top, step)?;
        if files.is_empty() { Err(error) } else { Ok(FastForward::CheckedOutDirty { path: top.to_owned(), files }) }
    }

    fn proven_forward(&self, top: &Path, step: &Step<'_>, at: Option<String>) -> Result<FastForward, GitError> {
        let reach = Reach::of(self.changed_between(step.repository, step.from, step.to)?);
        // Git leaves the submodules of a working tree where they are.
        let differs = self.uncommitted(top, Submodules::Ignored)?.iter().any(|path| reach.meets(path));
        if at.as_deref() == Some(step.to) && self.head(top)? == at && !differs {
            return Ok(FastForward::Done);
        }
        let wanted = format!("{} and its working tree are at {}", step.branch, step.to);
        Err(GitError::Unproven { command: "git merge --ff-only", wanted })
    }

    /// Files with changes of their own among those that the step changes, and ignored ones in the place of new ones.
    fn in_the_way(&self, top: &Path, step: &Step<'_>) -> Result<Vec<PathBuf>, GitError> {
        let reach = Reach::of(self.changed_between(step.repository, step.from, step.to)?);
        let mut found = self.uncommitted(top, Submodules::Counted)?;
        found.retain(|path| reach.meets(path));
        let added = self.added_between(step.repository, step.from, step.to)?;
        found.extend(added.iter().filter_map(|path| reach.occupied(top, path)));
        found.sort();
        found.dedup();
        Ok(found)
    }

    fn are_as_in(&self, top: &Path, commit: &str, files: &[PathBuf]) -> Result<bool, GitError> {
        if files.len() > MOST_LOOKED_INTO {
            return Ok(false);
        }
        for file in files {
            if !self.is_as_in(top, commit, file)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The paths that a step changes, and the directories above them.
struct Reach {
    paths: HashSet<PathBuf>,
    above: HashSet<PathBuf>,
}

impl Reach {
    fn of(paths: Vec<PathBuf>) -> Self {
        let above = paths.iter().flat_map(|path| path.ancestors().skip(1)).map(Path::to_owned).collect();
        Self { paths: paths.into_iter().collect(), above }
    }

    /// A file can also be in the way of a directory, and a directory of a file.
    fn meets(&self, path: &Path) -> bool {
        self.above.contains(path) || path.ancestors().any(|level| self.paths.contains(level))
    }

    /// What is on the disk where a new file is to be: itself, or a file in the place of a directory above it. A
    /// directory is left to git, which knows whether it will be empty by then.
    fn occupied(&self, top: &Path, path: &Path) -> Option<PathBuf> {
        let levels = path.ancestors().take_while(|level| !level.as_os_str().is_empty());
        let is_file = |level: &&Path| top.join(level).symlink_metadata().is_ok_and(|found| !found.is_dir());
        // A tracked file that becomes a directory is deleted by the same step.
        let stays = |level: &&Path| *level == path || !self.paths.contains(*level);
        levels.filter(is_file).find(stays).map(Path::to_owned)
    }
}
