//! What git says about the agent's work, so that nothing has to be taken from the agent's words.

use super::{
    DemoError, Scratch,
    scratch::{BRANCH, FILE, MENDED_LINE, git},
    stage::SUBJECT,
};
use serde::Serialize;
use std::{collections::BTreeMap, fs, path::PathBuf, process::Command, time::Duration};
use switchyard_host::{bounded, git::GitError};

/// The state of the worktree and of the checkout beside it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Proof {
    pub branch: String,
    /// Short, as git abbreviates it.
    pub commit: String,
    pub subject: String,
    /// The files that the branch changed, with the lines added and deleted.
    pub files: Vec<(PathBuf, u64, u64)>,
    /// Files in the worktree that are not committed.
    pub uncommitted: usize,
    /// Whether the commit follows directly on the one that the branch began with.
    pub one_commit: bool,
    pub mended: bool,
    /// Whether the main checkout is as it was, in its commit and in its files.
    pub main_untouched: bool,
}

impl Proof {
    pub(super) fn gather(scratch: &Scratch, environment: &BTreeMap<String, String>) -> Result<Self, DemoError> {
        let git = git(environment);
        let (worktree, repository) = (scratch.worktree(), scratch.repository());
        let base = git.head(&repository)?.unwrap_or_default();
        let files = git
            .diff_stat(&worktree, &base)?
            .into_iter()
            .map(|file| {
                let (added, deleted) = file.lines.map_or((0, 0), |lines| (lines.added, lines.deleted));
                (file.path, added, deleted)
            })
            .collect();
        // `%P` names all parents, so a merge or a second commit does not pass for one on top of the base.
        let described = describe(&git.program, &worktree, environment)?;
        let mut parts = described.splitn(3, '\n');
        let mut part = || parts.next().unwrap_or_default().to_owned();
        let (commit, parents, subject) = (part(), part(), part());
        Ok(Self {
            branch: BRANCH.to_owned(),
            commit,
            subject,
            files,
            uncommitted: git.status_porcelain(&worktree)?.len(),
            one_commit: !base.is_empty() && parents == base,
            mended: fs::read_to_string(worktree.join(FILE)).is_ok_and(|text| text.contains(MENDED_LINE)),
            main_untouched: git.status_porcelain(&repository)?.is_empty()
                && describe(&git.program, &repository, environment)?.lines().nth(1) == Some(""),
        })
    }

    /// What is not as it should be, one line each.
    pub(super) fn faults(&self) -> Vec<String> {
        let only_that_file = matches!(self.files.as_slice(), [(path, ..)] if path.as_os_str() == FILE);
        let table = [
            (self.one_commit, "the branch does not have exactly one new commit"),
            (self.subject == SUBJECT, "the commit has another message"),
            (only_that_file, "the commit does not touch exactly the one file"),
            (self.uncommitted == 0, "the worktree has changes that are not committed"),
            (self.mended, "the file is not mended"),
            (self.main_untouched, "the main checkout was touched"),
        ];
        table.into_iter().filter(|(fine, _)| !fine).map(|(_, fault)| fault.to_owned()).collect()
    }
}

/// Short name, parents and subject of the commit that is checked out, one on each line.
fn describe(
    program: &std::path::Path,
    directory: &std::path::Path,
    environment: &BTreeMap<String, String>,
) -> Result<String, DemoError> {
    let mut command = Command::new(program);
    command.env_clear().envs(environment).arg("-C").arg(directory).args(["log", "-1", "--format=%h%n%P%n%s"]);
    let shown = || "git log".to_owned();
    match bounded::run(&mut command, Duration::from_secs(20)) {
        Ok(done) if done.status.success() => Ok(String::from_utf8_lossy(&done.stdout).trim_end().to_owned()),
        Ok(done) => {
            let stderr = String::from_utf8_lossy(&done.stderr).trim().to_owned();
            Err(GitError::Failed { command: shown(), code: done.status.code(), stderr }.into())
        }
        Err(error) => Err(GitError::Run { command: shown(), source: std::io::Error::other(error) }.into()),
    }
}
