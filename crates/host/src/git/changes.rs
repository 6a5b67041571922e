//! What has changed: git's machine-readable answers, read into values.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::{Git, GitError, alone, path_of, within};

/// One changed path, with git's two letters: `M` modified, `A` added, `D` deleted, `R` renamed, `?` untracked, space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusEntry {
    pub index: char,
    pub worktree: char,
    pub path: PathBuf,
}

/// How a path differs between two commits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    pub path: PathBuf,
    /// None for a binary file.
    pub lines: Option<ChangedLines>,
    /// The later commit has nothing there.
    pub is_gone: bool,
    /// It had content, and is empty or a link now.
    pub is_emptied: bool,
    pub is_symlink: bool,
    /// The commit of a submodule or nested repository that is there in the later commit.
    pub link: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedLines {
    pub added: u64,
    pub deleted: u64,
}

/// Whether a submodule that is not at its recorded commit is a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Submodules {
    Counted,
}

/// The names of a file without content, in both formats of repositories.
const EMPTY: [&str; 2] =
    ["e69de29bb2d1d6434b8b29ae775ad8c2e48c5391", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"];

impl Git {
    /// Changed and untracked paths, relative to the top of the working tree; empty when all is committed.
    pub fn status_porcelain(&self, directory: &Path) -> Result<Vec<StatusEntry>, GitError> {
        let output = self.succeed(&within(directory, &["status", "--porcelain=v1", "-z", "--untracked-files=all"]))?;
        Ok(parse_status(&output))
    }

    /// What is in the working tree and in no commit, a renamed file with both its names. No program that the
    /// repository names is run for it.
    pub(super) fn uncommitted(&self, directory: &Path, submodules: Submodules) -> Result<Vec<PathBuf>, GitError> {
        let inside = match submodules {
            Submodules::Counted => "--ignore-submodules=none",
        };
        let words = ["status", "--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", inside];
        let status = parse_status(&self.succeed(&alone(directory, &words))?);
        Ok(status.into_iter().map(|entry| entry.path).collect())
    }

    /// Whether the path on the disk is what the commit has there; neither having anything is the same, too. Whatever
    /// is no plain file on one of the two sides is never the same.
    pub(super) fn is_as_in(&self, top: &Path, commit: &str, path: &Path) -> Result<bool, GitError> {
        let mut args = within(top, &["ls-tree", "-z", "--full-tree", "--end-of-options", commit, "--"]);
        args.push(path.as_os_str());
        let listed = self.succeed(&args)?;
        let wanted = listed.split(|byte| *byte == b'\t').next().filter(|entry| !entry.is_empty());
        let found = match top.join(path).symlink_metadata() {
            Ok(metadata) if metadata.is_file() => {
                let mut args = within(top, &["hash-object", "--"]);
                args.push(path.as_os_str());
                Some(self.line(&args)?)
            }
            Ok(_) => return Ok(false),
            Err(_) => None,
        };
        Ok(match (wanted, found) {
            (None, None) => true,
            (Some(entry), Some(found)) => entry.starts_with(b"100") && entry.ends_with(found.as_bytes()),
            (Some(_), None) | (None, Some(_)) => false,
        })
    }

    /// What changed between two commits, in git's order. A renamed file counts with both its names.
    pub fn diff_stat_between(&self, directory: &Path, from: &str, to: &str) -> Result<Vec<FileDiff>, GitError> {
        let words = ["diff-tree", "-r", "-z", "--raw", "--numstat", "--no-abbrev", "--no-renames", "--no-relative"];
        let words = words.into_iter().chain(["--no-ext-diff", "--no-textconv", "--end-of-options", from, to, "--"]);
        Ok(parse_changes(&self.succeed(&alone(directory, &words.collect::<Vec<_>>()))?))
    }

    /// Submodules and nested repositories that a commit adds or moves, with the commit that each is at.
    pub fn links_between(&self, directory: &Path, from: &str, to: &str) -> Result<Vec<(PathBuf, String)>, GitError> {
        let changed = self.diff_stat_between(directory, from, to)?.into_iter();
        Ok(changed.filter_map(|file| Some((file.path, file.link?))).collect())
    }

    /// Where a symbolic link of a commit leads.
    pub fn symlink_target(&self, directory: &Path, commit: &str, link: &Path) -> Result<PathBuf, GitError> {
        let mut name = std::ffi::OsString::from(format!("{commit}:"));
        name.push(link);
        let mut args = within(directory, &["cat-file", "blob"]);
        args.push(&name);
        Ok(path_of(&self.succeed(&args)?))
    }

    /// How many files of a commit another one deletes, and how many it has. A file that was moved is not deleted. No
    /// need to ask when [`Git::diff_stat_between`] shows no file that is gone.
    pub fn deletions(&self, directory: &Path, from: &str, to: &str) -> Result<(u64, u64), GitError> {
        let words =
            ["diff-tree", "-r", "-z", "--name-only", "-M", "--diff-filter=D", "--end-of-options", from, to, "--"];
        let count = |output: Vec<u8>| u64::try_from(super::records(&output).count()).unwrap_or(u64::MAX);
        let deleted = count(self.succeed(&alone(directory, &words))?);
        let all = ["ls-tree", "-r", "-z", "--name-only", "--full-tree", "--end-of-options", from];
        Ok((deleted, count(self.succeed(&alone(directory, &all))?)))
    }
}

pub(super) fn parse_status(output: &[u8]) -> Vec<StatusEntry> {
    let mut records = output.split(|byte| *byte == 0);
    let mut entries = Vec::new();
    while let Some(record) = records.next() {
        if let [index, worktree, b' ', path @ ..] = record {
            let entry = StatusEntry { index: char::from(*index), worktree: char::from(*worktree), path: path_of(path) };
            if [entry.index, entry.worktree].iter().any(|letter| matches!(letter, 'R' | 'C')) {
                // The former name follows as a record of its own.
                records.next();
            }
            entries.push(entry);
        }
    }
    entries
}

/// First `:MODE MODE OBJECT OBJECT STATUS` and the path of each file, then `ADDED DELETED PATH` of each, with tabs.
fn parse_changes(output: &[u8]) -> Vec<FileDiff> {
    let mut records = super::records(output).peekable();
    let mut files = Vec::new();
    while let Some(entry) = records.next_if(|record| record.starts_with(b":")) {
        let entry = String::from_utf8_lossy(entry).into_owned();
        let (mode, object) = (entry.split(' ').nth(1), entry.split(' ').nth(3));
        let path = path_of(records.next().unwrap_or_default());
        let link = object.filter(|_| mode == Some("160000")).map(str::to_owned);
        let was_file = entry.starts_with(":100");
        let is_empty = object.is_some_and(|object| EMPTY.contains(&object)) || mode == Some("120000");
        let is_emptied = was_file && is_empty;
        let (is_gone, is_symlink) = (mode == Some("000000"), mode == Some("120000"));
        files.push(FileDiff { path, lines: None, is_gone, is_emptied, is_symlink, link });
    }
    let lines: HashMap<PathBuf, ChangedLines> = records.filter_map(parse_numstat).collect();
    for file in &mut files {
        file.lines = lines.get(&file.path).copied();
    }
    files
}

fn parse_numstat(record: &[u8]) -> Option<(PathBuf, ChangedLines)> {
    let mut fields = record.splitn(3, |byte| *byte == b'\t');
    let mut count = || std::str::from_utf8(fields.next()?).ok()?.parse::<u64>().ok();
    let (added, deleted) = (count()?, count()?);
    Some((path_of(fields.next()?), ChangedLines { added, deleted }))
}
