//! The user's checkout: what it looked like before and after an attempt, and which changes the attempt made.
//!
//! Invariant: a change counts as the agent's only when one of its calls names the changed thing in a way that can
//! change it. The user and other tasks work in the same checkout, so a change alone proves nothing.

mod attribution;
mod call;
mod differences;
mod git_command;
mod programs;
mod resolve;
mod shell;

pub use attribution::{Evidence, Verdict};
pub use call::Call;
pub use differences::{Difference, Kind, Ours, differences};
pub use resolve::Scene;

use std::collections::BTreeMap;

/// What can be seen of a checkout without reading every file in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checkout {
    /// The branch as `refs/heads/…`, or the commit when no branch is checked out.
    pub head: String,
    /// None before the first commit.
    pub commit: Option<String>,
    /// Paths from the top that git lists as changed, untracked or ignored. The later of two snapshots also has every
    /// path of the earlier one.
    pub files: BTreeMap<String, FileState>,
    /// Entries beyond the limit of the snapshot.
    pub uncounted: usize,
    pub references: BTreeMap<String, String>,
    /// Commits, the newest first.
    pub stashes: Vec<String>,
    /// Hashes of the files in the repository's administration that configure it.
    pub settings: BTreeMap<String, u64>,
    pub hooks: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileState {
    pub tracking: Tracking,
    /// The staged mode and object, when they differ from the commit.
    pub staged: Option<String>,
    pub disk: Disk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracking {
    /// Git lists no change: the path is as committed, or there is nothing at it.
    Unlisted,
    Tracked,
    /// Staged, and not part of the commit.
    Added,
    Untracked,
    Ignored,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Disk {
    Absent,
    /// Only its presence counts: reading an ignored directory could cost minutes.
    Directory,
    File {
        stamp: Stamp,
        /// A hash, where reading the file was cheap.
        content: Option<u64>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stamp {
    pub size: u64,
    pub modified_nanos: i128,
    pub inode: u64,
}

impl Disk {
    fn is_same(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { content: Some(before), .. }, Self::File { content: Some(after), .. }) => before == after,
            (Self::File { stamp: before, .. }, Self::File { stamp: after, .. }) => before == after,
            _ => self == other,
        }
    }
}
