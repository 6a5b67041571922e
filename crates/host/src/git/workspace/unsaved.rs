//! What would be lost with a workspace, looked at without changing anything.

use std::fs;
use std::path::{Path, PathBuf};

use super::super::{Git, GitError, alone, path_of, records};
use super::{SOURCE, Workspace, admin_of, owned_namespace, read_record};

/// What is in a workspace and was not made for another.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unsaved {
    /// Changed and new paths, relative to its top. Those that git ignores are left out.
    pub uncommitted: Vec<PathBuf>,
    /// Commits that were made in it, the newest first.
    pub commits: Vec<String>,
}

impl Workspace {
    /// Also while an agent is at work. Of a repository that an agent has destroyed, what is archived.
    pub fn unsaved(&self) -> Result<Unsaved, GitError> {
        let looked = self.git.bound_to(&self.git_dir(), Some(&self.directory)).and_then(|git| {
            let status = git.status_porcelain(&self.directory)?;
            let uncommitted = status.into_iter().map(|entry| entry.path).collect();
            Ok(Unsaved { uncommitted, commits: self.commits_in(&git)? })
        });
        match looked {
            Err(GitError::NotThatRepository { .. } | GitError::Failed { .. }) => self.archived(),
            looked => looked,
        }
    }

    fn archived(&self) -> Result<Unsaved, GitError> {
        let commits = self.archive_git()?.map(|archive| self.commits_in(&archive)).transpose()?;
        Ok(Unsaved { uncommitted: Vec::new(), commits: commits.unwrap_or_default() })
    }

    /// Repositories that were made inside the workspace. Only the names of their commits are part of its work.
    pub fn nested_repositories(&self) -> Result<Vec<String>, GitError> {
        let Some(work) = self.collected()? else { return Ok(Vec::new()) };
        let links = self.git()?.links_between(&self.directory, &self.record.base, &work)?;
        let inside = links.into_iter().filter(|(path, _)| self.directory.join(path).join(".git").exists());
        let inside = inside.map(|(path, _)| path).chain(self.ignored_repositories()?);
        Ok(inside.map(|path| path.display().to_string()).collect())
    }

    /// Repositories in what git ignores, with commits that no remote of theirs has.
    fn ignored_repositories(&self) -> Result<Vec<PathBuf>, GitError> {
        let words = ["ls-files", "--others", "--ignored", "--exclude-standard", "--directory", "-z"];
        let listed = self.git()?.succeed(&alone(&self.directory, &words))?;
        let mut found = Vec::new();
        for path in records(&listed).map(path_of).filter(|path| path.as_os_str().as_encoded_bytes().ends_with(b"/")) {
            search(&self.directory.join(path), &mut found);
        }
        let is_unsaved = |tree: &PathBuf| {
            let words = ["--all", "--reflog", "--ignore-missing", "--max-count=1", "--not", "--remotes"];
            let git = self.git.bound_to(&tree.join(".git"), None);
            // What cannot be looked into may be all there is.
            !git.and_then(|git| git.commits(tree, &words)).is_ok_and(|made| made.is_empty())
        };
        found.retain(is_unsaved);
        Ok(found.iter().map(|tree| tree.strip_prefix(&self.directory).unwrap_or(tree).to_owned()).collect())
    }

    fn commits_in(&self, git: &Git) -> Result<Vec<String>, GitError> {
        let source = format!("--glob={SOURCE}/*");
        let words = ["rev-list", "--all", "--reflog", "--ignore-missing", "--not", &self.record.base, &source];
        let listed = git.succeed(&words)?;
        Ok(String::from_utf8_lossy(&listed).lines().map(str::to_owned).collect())
    }
}

/// The directories below this one that have a repository of their own.
fn search(directory: &Path, found: &mut Vec<PathBuf>) {
    if directory.join(".git/HEAD").is_file() {
        found.push(directory.to_owned());
    }
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        if entry.file_name() != ".git" && entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            search(&entry.path(), found);
        }
    }
}

impl Git {
    /// What is archived of a workspace whose directory is gone.
    pub fn archived_work(&self, directory: &Path, owner: &str) -> Result<Unsaved, GitError> {
        let record = read_record(&admin_of(directory)).filter(|record| record.owner == owner);
        record.map_or_else(|| Ok(Unsaved::default()), |record| Workspace::at(directory, record, self).archived())
    }

    /// The commits of a task that are kept in the user's repository, by the name of their ref.
    pub fn kept_commits(&self, repository: &Path, owner: &str) -> Result<Vec<(String, String)>, GitError> {
        let namespace = owned_namespace(owner);
        self.references(repository, &[&format!("{namespace}/kept/"), &format!("{namespace}/linked")])
    }

    /// Lets go of them.
    pub fn discard_kept(&self, repository: &Path, owner: &str) -> Result<(), GitError> {
        self.remove_owned_locks(repository, owner)?;
        for (name, commit) in self.kept_commits(repository, owner)? {
            self.delete_ref(repository, &name, Some(&commit))?;
        }
        Ok(())
    }
}
