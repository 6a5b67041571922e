//! After an attempt: everything that is in the workspace becomes commits, and one commit is what may be delivered.
//!
//! Invariant: no work is thrown away and no operation of the agent's is aborted. What is not part of the commit to be
//! delivered stays reachable from a ref of ours.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{Author, Forecast, Git, GitError, path_of, records, within};
use super::tips::is_hex;
use super::{SOURCE, WORK, Workspace, unfinished::unfinished};

/// Paths in one command line.
pub(super) const AT_ONCE: usize = 500;

/// What an attempt has left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Collected {
    /// The attempt had destroyed or replaced the repository. It was made anew, with the files that are there.
    pub rebuilt: bool,
    /// What may be delivered: the content of the workspace, after the base.
    pub head: String,
    /// What was settled on before.
    pub before: Option<String>,
    /// Commits in it that the user's repository had already, and that are not part of the base.
    pub foreign: Vec<String>,
    /// Files in which work on an older commit contradicts the base. The conflict is marked in them.
    pub conflicts: Vec<PathBuf>,
    /// A rebase or another operation that has not applied all of its commits.
    pub unfinished: Option<String>,
}

/// What a tracked file is that is not on the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Missing {
    Deleted,
    /// After the repository was destroyed, it is unknown whether the file was deleted on purpose.
    Kept,
}

impl Workspace {
    /// Commits what is uncommitted, keeps every tip, and settles on one commit.
    pub fn collect(&self, message: &str, author: &Author) -> Result<Collected, GitError> {
        self.git.await_stragglers()?;
        self.undo_setup()?;
        match self.collect_from(message, author, Missing::Deleted) {
            Err(error @ (GitError::Failed { .. } | GitError::NotThatRepository { .. })) if self.is_damaged() => {
                if !self.rebuild()? {
                    return Err(error);
                }
                tracing::warn!(%error, workspace = %self.directory.display(), "its repository was made anew");
                let collected = self.collect_from(message, author, Missing::Kept)?;
                Ok(Collected { rebuilt: true, ..collected })
            }
            collected => collected,
        }
    }

    fn collect_from(&self, message: &str, author: &Author, missing: Missing) -> Result<Collected, GitError> {
        let git = self.git()?.by(author);
        remove_locks(&self.git_dir());
        let mut refs = self.restore_refs(&git)?;
        self.undo_restart(&git)?;
        let unfinished = unfinished(&self.git_dir());
        let content = self.snapshot(&git, message, missing)?;
        let content = self.after_bisect(&git, content, message)?;
        let content = self.or_branch(&git, content, message)?;
        let base = &self.record.base;
        let apart = format!("{base}...{content}");
        let apart = git.commits(&self.directory, &["--left-right", "--end-of-options", &apart])?;
        let is_after_base = !apart.iter().any(|commit| commit.starts_with('<'));
        let all = apart.iter().filter_map(|commit| commit.strip_prefix('>'));
        let (head, conflicts) =
            if is_after_base { (content.clone(), Vec::new()) } else { self.put_after_base(&git, &content, message)? };
        let before = refs.here.insert(WORK.to_owned(), head.clone());
        if before.as_ref() != Some(&head) {
            git.succeed(&["update-ref", WORK, &head])?;
        }
        let mut made = self.keep_tips(&git, &mut refs.here)?;
        if head != content {
            made.extend(self.made_here(&git, &content)?);
        }
        for fetched in self.note_fetched(&git, &refs.here)? {
            made.remove(&fetched);
        }
        let foreign = all.filter(|commit| !made.contains(*commit)).map(str::to_owned).collect();
        self.save_to_archive(&refs)?;
        Ok(Collected { rebuilt: false, head, before, foreign, conflicts, unfinished })
    }

    /// The history was rewritten, or the work began at an older commit: what it changed since the two parted comes
    /// after the base, and so what the base has since then stays. Without a common commit only the content is left.
    fn put_after_base(&self, git: &Git, content: &str, message: &str) -> Result<(String, Vec<PathBuf>), GitError> {
        let (top, base) = (&self.directory, &self.record.base);
        let content_tree = || git.tree_of(top, content);
        let (tree, conflicts) = match git.merge_base(top, base, content)? {
            None => (content_tree()?, Vec::new()),
            Some(_) => match git.merge_forecast(top, base, content)? {
                Forecast::Clean { tree } => (tree, Vec::new()),
                Forecast::Conflict { tree, paths } => (tree, paths),
                // The content alone would revert what the base has since.
                Forecast::Unknown { why } => {
                    return Err(GitError::Unproven {
                        command: "git merge-tree",
                        wanted: format!("it can merge: {why}"),
                    });
                }
            },
        };
        Ok((git.commit_tree(top, &tree, base, message)?, conflicts))
    }

    /// The commit that was settled on last.
    pub fn collected(&self) -> Result<Option<String>, GitError> {
        let found = self.git().and_then(|git| git.reference_commit(&self.directory, WORK));
        match (found, self.archive_git()?) {
            (Ok(None) | Err(GitError::NotThatRepository { .. }), Some(archive)) => {
                archive.reference_commit(&self.directory, WORK)
            }
            (found, _) => found,
        }
    }

    /// Replaces what may be delivered by one commit with the same content.
    pub fn squash(&self, message: &str, author: &Author) -> Result<String, GitError> {
        let git = self.git()?.by(author);
        let tree = git.tree_of(&self.directory, WORK)?;
        let head = git.commit_tree(&self.directory, &tree, &self.record.base, message)?;
        git.succeed(&["update-ref", WORK, &head])?;
        Ok(head)
    }

    /// The content of the work tree as a commit on top of what is checked out.
    fn snapshot(&self, git: &Git, message: &str, missing: Missing) -> Result<String, GitError> {
        let top = &self.directory;
        let head = git.head(top)?;
        self.repair_index(git, head.as_deref())?;
        let which = match missing {
            Missing::Deleted => "--all",
            Missing::Kept => "--ignore-removal",
        };
        git.succeed(&within(top, &["add", which, "--sparse", "--", ":/"]))?;
        self.add_to_leftovers(git)?;
        let tree = git.line(&within(top, &["write-tree"]))?;
        let parent = head.as_deref().unwrap_or(&self.record.base);
        if head.is_some() && git.tree_of(top, parent)? == tree {
            return Ok(parent.to_owned());
        }
        git.commit_tree(top, &tree, parent, message)
    }

    /// An unfinished bisect has an older commit checked out: the work is what was checked out before, with what was
    /// changed since. When that conflicts, the content of the work tree counts.
    fn after_bisect(&self, git: &Git, content: String, message: &str) -> Result<String, GitError> {
        let top = &self.directory;
        let noted = fs::read_to_string(self.git_dir().join("BISECT_START")).unwrap_or_default();
        if noted.trim().is_empty() {
            return Ok(content);
        }
        let start = match git.reference_commit(top, &format!("refs/heads/{}", noted.trim()))? {
            None if noted.trim().len() >= 40 && is_hex(noted.trim()) => git.commit_of(top, noted.trim()).ok(),
            found => found,
        };
        let Some(start) = start else { return Ok(content) };
        if git.is_ancestor(top, &content, &start)? {
            return Ok(start);
        }
        match git.merge_forecast(top, &start, &content)? {
            Forecast::Clean { tree } => git.commit_tree(top, &tree, &start, message),
            Forecast::Conflict { .. } | Forecast::Unknown { .. } => Ok(content),
        }
    }

    /// Another commit than the one of the workspace's own branch is checked out. When the commit has nothing that was
    /// made here, or is an older one of that branch, it was only looked at: the work is what the branch has, with what
    /// was changed since and not committed.
    fn or_branch(&self, git: &Git, content: String, message: &str) -> Result<String, GitError> {
        let (top, own) = (&self.directory, format!("refs/heads/{}", self.record.branch));
        // The usual case, without a call of git; a repository in another format has less in this file.
        let noted = fs::read_to_string(self.git_dir().join("HEAD")).unwrap_or_default();
        if noted.trim().strip_prefix("ref: ") == Some(&own) {
            return Ok(content);
        }
        let on = git.line(&["symbolic-ref", "--quiet", "HEAD"]).unwrap_or_default();
        let Some(branch) = git.reference_commit(top, &own)?.filter(|_| on != own) else { return Ok(content) };
        let Some(head) = git.head(top)? else { return Ok(content) };
        let is_older = on.is_empty() && head == content && git.is_ancestor(top, &head, &branch)?;
        if !is_older && !self.made_here(git, &head)?.is_empty() {
            return Ok(content);
        }
        if head == content {
            return Ok(branch);
        }
        match git.merge_forecast(top, &branch, &content)? {
            Forecast::Clean { tree } => git.commit_tree(top, &tree, &branch, message),
            Forecast::Conflict { .. } | Forecast::Unknown { .. } => Ok(content),
        }
    }

    /// The commits up to this one that neither the base nor the user's repository has.
    fn made_here(&self, git: &Git, commit: &str) -> Result<Vec<String>, GitError> {
        let source = format!("--glob={SOURCE}/*");
        git.commits(&self.directory, &["--ignore-missing", commit, "--not", &self.record.base, &source])
    }

    /// An index that cannot be read is made anew. Bits that hide a change of a file from git are cleared.
    fn repair_index(&self, git: &Git, head: Option<&str>) -> Result<(), GitError> {
        let top = &self.directory;
        let flagged = match git.succeed(&within(top, &["ls-files", "-v", "-z"])) {
            Ok(listed) if self.git_dir().join("index").is_file() => listed,
            _ => return self.rebuild_index(git, head),
        };
        let sparse = records(&flagged).any(|entry| entry.first() == Some(&b'S')) && self.is_sparse(git)?;
        let hidden = |entry: &&[u8]| match entry.first() {
            // A file that is not there was taken out of the checkout, not deleted.
            Some(b'S') => !sparse && top.join(path_of(entry.get(2..).unwrap_or_default())).symlink_metadata().is_ok(),
            Some(letter) => letter.is_ascii_lowercase(),
            None => false,
        };
        let paths: Vec<PathBuf> =
            records(&flagged).filter(hidden).map(|entry| path_of(entry.get(2..).unwrap_or_default())).collect();
        for bit in ["--no-skip-worktree", "--no-assume-unchanged"] {
            self.set_bit(git, bit, &paths)?;
        }
        Ok(())
    }

    fn is_sparse(&self, git: &Git) -> Result<bool, GitError> {
        Ok(git.setting(&self.directory, "core.sparseCheckout")?.as_deref() == Some("true"))
    }

    fn rebuild_index(&self, git: &Git, head: Option<&str>) -> Result<(), GitError> {
        drop(fs::remove_file(self.git_dir().join("index")));
        let Some(head) = head else { return Ok(()) };
        git.succeed(&within(&self.directory, &["read-tree", head]))?;
        if self.is_sparse(git)? {
            // Which of the missing files were never checked out was only in the index: none counts as deleted.
            let missing = git.succeed(&within(&self.directory, &["ls-files", "--deleted", "-z"]))?;
            let missing: Vec<PathBuf> = records(&missing).map(path_of).collect();
            self.set_bit(git, "--skip-worktree", &missing)?;
        }
        Ok(())
    }

    fn set_bit(&self, git: &Git, bit: &str, paths: &[PathBuf]) -> Result<(), GitError> {
        for part in paths.chunks(AT_ONCE) {
            let mut args = within(&self.directory, &["update-index", bit, "--"]);
            args.extend(part.iter().map(|path| path.as_os_str()));
            git.succeed(&args)?;
        }
        Ok(())
    }
}

impl Git {
    /// Commits are by this person.
    pub(super) fn by(&self, author: &Author) -> Git {
        let mut git = self.clone();
        for role in ["AUTHOR", "COMMITTER"] {
            git.variables.push((format!("GIT_{role}_NAME").into(), author.name.clone().into()));
            git.variables.push((format!("GIT_{role}_EMAIL").into(), author.email.clone().into()));
        }
        git
    }

    /// One commit with this content, directly after `parent`. Made twice, it is the one that was settled on before.
    pub(super) fn commit_tree(&self, top: &Path, tree: &str, parent: &str, message: &str) -> Result<String, GitError> {
        let format = "--format=%(objectname) %(tree) %(parent)";
        if let Ok(before) = self.line(&within(top, &["for-each-ref", format, WORK]))
            && let Some((work, content)) = before.split_once(' ')
            && content == format!("{tree} {parent}")
        {
            return Ok(work.to_owned());
        }
        self.line(&within(top, &["commit-tree", "-p", parent, "-m", message, tree]))
    }
}

/// Locks of a git that was killed. All that worked here has ended. Git locks whatever it is about to write, pseudo refs
/// such as `CHERRY_PICK_HEAD` too, so they are found and not listed.
pub(super) fn remove_locks(git_dir: &Path) {
    remove_locks_in(git_dir);
    for name in ["refs", "logs", "info", "objects/info", "reftable"] {
        remove_ref_locks(&git_dir.join(name));
    }
}

pub(super) fn remove_ref_locks(directory: &Path) {
    for below in remove_locks_in(directory) {
        remove_ref_locks(&below);
    }
}

/// Returns the directories in it.
fn remove_locks_in(directory: &Path) -> Vec<PathBuf> {
    let mut below = Vec::new();
    // A link would lead to the files of others.
    if !directory.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        return below;
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            below.push(path);
        } else if path.extension().is_some_and(|extension| extension == "lock") {
            drop(fs::remove_file(path));
        }
    }
    below
}
