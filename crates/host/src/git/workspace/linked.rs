//! Worktrees of the user's repository, as earlier releases used them for tasks: their work is taken over.
//!
//! Invariant: before such a worktree is removed, everything in it is reachable from refs of the task. One that holds
//! something that git does not keep stays where it is. Each step may be repeated after a death.

mod content;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::removal::place_of;
use super::super::{Author, Git, GitError, path_of, records, within};
use super::collect::remove_locks;
use super::tips::{NOTES, is_hex, tips};
use super::{WORK, Workspace, file_error, owned_namespace};
use content::{Content, new_index, refused};

/// What uncommitted files in a linked worktree are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Uncommitted {
    Work,
    /// The work was committed before its verification began, which has written these.
    Leftovers,
}

/// A task's worktree that is linked to the user's repository.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinkedWorktree<'a> {
    pub repository: &'a Path,
    pub directory: &'a Path,
    pub owner: &'a str,
    pub branch: &'a str,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakenOver {
    /// The commit that has the work.
    pub work: String,
    /// Why the worktree was not removed.
    pub stays: Option<String>,
}

/// In the user's repository, until a workspace has the work.
fn pending_name(owner: &str) -> String {
    format!("{}/linked", owned_namespace(owner))
}

impl LinkedWorktree<'_> {
    /// Whether there is work that has to be taken over first.
    pub fn is_pending(&self, git: &Git) -> Result<bool, GitError> {
        let pending = git.reference_commit(self.repository, &pending_name(self.owner))?;
        Ok(pending.is_some() || self.administration(git)?.is_some())
    }

    /// Keeps all that is in the worktree below refs of the task, and removes the worktree. `None` when there is none.
    pub fn take_over(
        &self,
        git: &Git,
        uncommitted: Uncommitted,
        message: &str,
        author: &Author,
    ) -> Result<Option<TakenOver>, GitError> {
        git.remove_owned_locks(self.repository, self.owner)?;
        let pending = git.reference_commit(self.repository, &pending_name(self.owner))?;
        let Some(administration) = self.administration(git)? else {
            return Ok(pending.map(|work| TakenOver { work, stays: None }));
        };
        remove_locks(&administration);
        let inside = self.inside(git, &administration).by(author);
        let seen = checked_out_before(&administration);
        let content = self.content(&inside, &administration, seen.last(), message)?;
        let last = content.all.as_ref().unwrap_or(&content.head);
        let work = pending.unwrap_or_else(|| match uncommitted {
            Uncommitted::Work => last.clone(),
            Uncommitted::Leftovers => content.head.clone(),
        });
        self.keep_tips(&inside, &administration, &content, &seen, &work)?;
        self.write(git, &pending_name(self.owner), &work)?;
        // One that was moved elsewhere since is the user's.
        if let Some(tip) = git.branch_commit(self.repository, self.branch)?
            && (seen.is_empty() || seen.contains(&tip))
        {
            git.own_branch(self.repository, self.owner, self.branch, &tip)?;
        }
        let stays = self.remove(git, &inside, &administration, &content)?;
        Ok(Some(TakenOver { work, stays }))
    }

    /// A workspace has the work now, or it is to begin anew.
    pub fn forget(&self, git: &Git) -> Result<(), GitError> {
        git.delete_ref(self.repository, &pending_name(self.owner), None)
    }

    /// Keeps a commit in the user's repository.
    pub fn keep(&self, git: &Git, commit: &str) -> Result<(), GitError> {
        self.write(git, &format!("{}/kept/{commit}", owned_namespace(self.owner)), commit)
    }

    fn write(&self, git: &Git, name: &str, commit: &str) -> Result<(), GitError> {
        git.succeed(&within(self.repository, &["update-ref", "--end-of-options", name, commit])).map(drop)
    }

    /// Where git administers this worktree, also when its directory or the link in it is gone.
    fn administration(&self, git: &Git) -> Result<Option<PathBuf>, GitError> {
        let place = place_of(self.directory);
        let all = fs::read_dir(git.common_directory(self.repository)?.join("worktrees"));
        let found = all.into_iter().flatten().flatten().map(|entry| entry.path()).find(|administration| {
            let noted = fs::read(administration.join("gitdir")).unwrap_or_default();
            let link = administration.join(path_of(noted.strip_suffix(b"\n").unwrap_or(&noted)));
            link.parent().is_some_and(|top| place_of(top) == place)
        });
        // A workspace may be in the place of a worktree that git has not forgotten.
        Ok(found.filter(|_| !self.directory.join(".git").is_dir()))
    }

    /// Git for this worktree alone, whatever has become of the link in it.
    fn inside(&self, git: &Git, administration: &Path) -> Git {
        let mut git = git.clone();
        git.variables.push(("GIT_DIR".into(), administration.into()));
        git.variables.push(("GIT_WORK_TREE".into(), self.directory.into()));
        git
    }

    /// Gives every tip a ref that is neither part of the work nor of the user's own branches.
    fn keep_tips(
        &self,
        git: &Git,
        administration: &Path,
        content: &Content,
        seen: &[String],
        work: &str,
    ) -> Result<(), GitError> {
        let Content { head, all, staged } = content;
        let mut found: BTreeSet<String> = seen.iter().chain(all).chain(staged).chain([head]).cloned().collect();
        for name in NOTES {
            let text = fs::read_to_string(administration.join(name)).unwrap_or_default();
            found.extend(text.split_whitespace().filter(|word| word.len() >= 40 && is_hex(word)).map(str::to_owned));
        }
        let own = ["for-each-ref", "--format=%(objectname)", "refs/worktree", "refs/bisect", "refs/rewritten"];
        found.extend(String::from_utf8_lossy(&git.succeed(&own)?).lines().map(str::to_owned));
        found.extend(git.branch_commit(administration, self.branch)?);
        let others = format!("--exclude={}", self.branch);
        let mut words = vec!["rev-list", "--parents", "--ignore-missing"];
        words.extend(found.iter().map(String::as_str));
        words.extend(["--not", work, &others, "--branches", "--tags", "--remotes", "--"]);
        let listed = git.succeed(&words)?;
        for tip in tips(&String::from_utf8_lossy(&listed)) {
            self.keep(git, tip)?;
        }
        Ok(())
    }

    /// `None` when it is gone, otherwise why it stays.
    fn remove(
        &self,
        git: &Git,
        inside: &Git,
        administration: &Path,
        content: &Content,
    ) -> Result<Option<String>, GitError> {
        let Some(all) = &content.all else { return Ok(Some("git does not add everything in it".to_owned())) };
        let has_submodules = fs::read_dir(administration.join("modules")).is_ok_and(|mut found| found.next().is_some());
        if has_submodules || !inside.links_between(administration, &content.head, all)?.is_empty() {
            return Ok(Some("there are repositories inside it".to_owned()));
        }
        if self.directory.is_dir() {
            inside.succeed(&["update-ref", "--no-deref", "HEAD", all])?;
            // What came into being after it was added. A checkout that was never finished lacks files.
            let new = inside.with_index(&new_index(administration));
            let status = new.succeed(&within(self.directory, &["status", "--porcelain=v1", "-z", "-uall"]))?;
            if records(&status).any(|entry| !entry.starts_with(b" D ")) {
                return Ok(Some("something in it was changed a moment ago".to_owned()));
            }
            // A removal that died has perhaps taken the link first.
            let link = self.directory.join(".git");
            if link.symlink_metadata().is_err() {
                let text = [b"gitdir: ", administration.as_os_str().as_encoded_bytes(), b"\n"].concat();
                fs::write(&link, text).map_err(|source| file_error("write", &link, source))?;
            }
        }
        let _lock = git.lock(self.repository)?;
        let mut remove = within(self.repository, &["worktree", "remove", "--force", "--"]);
        remove.push(self.directory.as_os_str());
        let removed = git.succeed(&remove);
        Ok(refused(removed)?.err())
    }
}

impl Workspace {
    /// Takes the work of a linked worktree for its own. It is checked out with the next step that reads the work.
    pub fn take_over(&mut self, linked: &LinkedWorktree<'_>) -> Result<(), GitError> {
        let common = self.git.common_directory(linked.repository)?;
        self.git()?.fetch_refs(&common, &[format!("+{}:{WORK}", pending_name(linked.owner))])?;
        self.record.restarting = true;
        self.save_record()
    }
}

/// The commits that a worktree was at, the oldest first, as its own log has them.
fn checked_out_before(administration: &Path) -> Vec<String> {
    let log = fs::read_to_string(administration.join("logs/HEAD")).unwrap_or_default();
    let commits = log.lines().filter_map(|line| line.split(' ').nth(1));
    commits.filter(|commit| is_hex(commit) && commit.bytes().any(|digit| digit != b'0')).map(str::to_owned).collect()
}
