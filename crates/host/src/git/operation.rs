//! Operations in progress that need a branch to stay where it is.
//!
//! Invariant: only looks; the files of an operation are read, never changed.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::checkout::Checkout;
use super::{Git, GitError, within};
use crate::bounded::wait_until;

/// How long a lock of another program may exist before it is reported: most are gone in milliseconds.
const PATIENCE: Duration = Duration::from_secs(1);

/// Why a branch cannot be moved now. Shown after the path of the checkout: "PATH is in the middle of a rebase".
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    Rebase,
    Bisect,
    Merge,
    CherryPick,
    Revert,
    /// A cherry-pick or revert of several commits.
    Sequence,
    ApplyPatches,
    /// The index has entries with conflicts.
    Conflicts,
    /// A lock file exists that is not ours.
    Locked {
        file: PathBuf,
    },
    /// The branch is checked out there as well.
    SecondCheckout {
        path: PathBuf,
    },
}

impl fmt::Display for Operation {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = match self {
            Self::Rebase => "a rebase",
            Self::Bisect => "a bisect",
            Self::Merge => "a merge",
            Self::CherryPick => "a cherry-pick",
            Self::Revert => "a revert",
            Self::Sequence => "a cherry-pick or revert of several commits",
            Self::ApplyPatches => "applying patches (git am)",
            Self::Conflicts => return formatter.write_str("has files with unresolved conflicts"),
            Self::Locked { file } => {
                return write!(formatter, "is used by another git process, which holds {}", file.display());
            }
            Self::SecondCheckout { path } => {
                return write!(formatter, "and {} both have the branch checked out", path.display());
            }
        };
        write!(formatter, "is in the middle of {name}")
    }
}

/// An operation that will set this branch when it ends, wherever it runs. The checkout's HEAD is detached meanwhile.
pub(super) fn holding(common: &Path, reference: &str) -> Option<(PathBuf, Operation)> {
    Checkout::all(common).into_iter().find_map(|checkout| {
        let operation = detached_operation(&checkout.place.directory, reference)?;
        Some((checkout.top, operation))
    })
}

fn detached_operation(directory: &Path, reference: &str) -> Option<Operation> {
    let lines = |name: &str| fs::read_to_string(directory.join(name)).unwrap_or_default();
    let names = |file: &str, wanted: &str| lines(file).lines().any(|line| line == wanted);
    // A rebase can move the branches that point at the commits it rewrites; it lists them.
    let rebase = ["rebase-merge/head-name", "rebase-apply/head-name", "rebase-merge/update-refs"];
    if rebase.iter().any(|file| names(file, reference)) {
        return Some(Operation::Rebase);
    }
    let short = reference.strip_prefix("refs/heads/").unwrap_or(reference);
    (names("BISECT_START", short) || names("BISECT_START", reference)).then_some(Operation::Bisect)
}

impl Git {
    /// What is in progress in a checkout that is on the branch. Conflicts in its index are found with what is in the
    /// way.
    pub(super) fn operation_in(&self, checkout: &Checkout) -> Result<Option<Operation>, GitError> {
        let directory = &checkout.place.directory;
        let files = [
            ("MERGE_HEAD", Operation::Merge),
            ("CHERRY_PICK_HEAD", Operation::CherryPick),
            ("REVERT_HEAD", Operation::Revert),
            ("sequencer", Operation::Sequence),
            ("rebase-apply", Operation::ApplyPatches),
            ("rebase-merge", Operation::Rebase),
        ];
        if let Some((_, operation)) = files.into_iter().find(|(name, _)| directory.join(name).exists()) {
            return Ok(Some(operation));
        }
        if directory.join("reftable").exists() {
            for (name, operation) in [("CHERRY_PICK_HEAD", Operation::CherryPick), ("REVERT_HEAD", Operation::Revert)] {
                if self.answer(&within(&checkout.top, &["rev-parse", "--verify", "--quiet", name]))? {
                    return Ok(Some(operation));
                }
            }
        }
        Ok(None)
    }
}

/// The lock of a reference, when another program has it for longer than a moment.
pub(super) fn locked_reference(common: &Path, reference: &str) -> Option<Operation> {
    let own = [common.join(format!("{reference}.lock")), common.join("reftable/tables.list.lock")];
    // Git locks a HEAD that is on the branch, too.
    let heads = Checkout::all(common).into_iter().map(|checkout| checkout.place.directory.join("HEAD.lock"));
    let file = own.into_iter().chain(heads).find(|file| file.exists())?;
    let gone = wait_until(PATIENCE, || Ok((!file.exists()).then_some(())));
    (!matches!(gone, Ok(Some(())))).then_some(Operation::Locked { file })
}
