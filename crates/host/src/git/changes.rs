//! What has changed: git's machine-readable answers, read into values.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::{Git, GitError, alone, path_of, within};

/// One changed path, with git's two letters: `M` modified, `A` added, `D` deleted, `R` renamed, `?` untracked, space.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StatusEntry {
    pub index: char,
    pub worktree: char,
    pub path: PathBuf,
}

/// How many lines of a file changed; no counts for a binary file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileDiff {
    pub path: PathBuf,
    pub lines: Option<ChangedLines>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ChangedLines {
    pub added: u64,
    pub deleted: u64,
}

/// Whether a submodule that is elsewhere than the commit says is a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Submodules {
    Counted,
    Ignored,
}

impl Git {
    /// Changed and untracked paths, relative to the top of the working tree; empty when all is committed.
    pub fn status_porcelain(&self, directory: &Path) -> Result<Vec<StatusEntry>, GitError> {
        let output = self.succeed(&within(directory, &["status", "--porcelain=v1", "-z", "--untracked-files=all"]))?;
        Ok(parse_status(&output))
    }

    /// What is in the working tree and in no commit, a renamed file with both its names. No program that the
    /// repository names is run for the look.
    pub(super) fn uncommitted(&self, directory: &Path, submodules: Submodules) -> Result<Vec<PathBuf>, GitError> {
        let inside = match submodules {
            Submodules::Counted => "--ignore-submodules=none",
            Submodules::Ignored => "--ignore-submodules=all",
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

    /// Lines changed in the working tree since the commit `from`. Untracked files are not part of git's comparison.
    pub fn diff_stat(&self, directory: &Path, from: &str) -> Result<Vec<FileDiff>, GitError> {
        let mut args =
            within(directory, &["diff", "--numstat", "-z", "--no-renames", "--no-ext-diff", "--no-textconv"]);
        // What comes before `--` is a commit, never a file of the same name; what begins with a dash is neither.
        args.extend(["--end-of-options", from, "--"].map(OsStr::new));
        Ok(self.succeed(&args)?.split(|byte| *byte == 0).filter_map(parse_numstat).collect())
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

fn parse_numstat(record: &[u8]) -> Option<FileDiff> {
    let mut fields = record.splitn(3, |byte| *byte == b'\t');
    let mut count = || std::str::from_utf8(fields.next()?).ok()?.parse::<u64>().ok();
    let (added, deleted) = (count(), count());
    let lines = added.zip(deleted).map(|(added, deleted)| ChangedLines { added, deleted });
    Some(FileDiff { path: path_of(fields.next()?), lines })
}
