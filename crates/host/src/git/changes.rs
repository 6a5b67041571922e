//! What has changed: git's machine-readable answers, read into values.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use super::{Git, GitError, within};

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

impl Git {
    /// Changed and untracked paths, relative to the top of the working tree; empty when all is committed.
    pub fn status_porcelain(&self, directory: &Path) -> Result<Vec<StatusEntry>, GitError> {
        let output = self.succeed(&within(directory, &["status", "--porcelain=v1", "-z", "--untracked-files=all"]))?;
        Ok(parse_status(&output))
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

fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsString::from_vec(bytes.to_vec()))
}
