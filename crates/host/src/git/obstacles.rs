//! What is in the way of moving a working tree from one commit to another.
//!
//! Invariant: a file with content that is in neither of the two commits is always found.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};

use super::changes::Submodules;
use super::checkout_undo::has_plain_parents;
use super::tree_change::TreeChange;
use super::{Git, GitError, alone, path_of, records};

/// More files than that are not compared one by one.
const MOST_COMPARED: usize = 500;

/// What a step would overwrite or remove.
#[derive(Debug, Default)]
pub(super) struct Obstacles {
    pub files: Vec<PathBuf>,
    /// Some of them are changes that git is set not to look for, and so cannot put into the index either.
    pub hidden: bool,
    /// Files without a change that git is set not to look at; it would not notice that they only look changed.
    pub overlooked: Vec<PathBuf>,
    /// The index has entries with conflicts.
    pub conflicts: bool,
}

impl Git {
    /// Files with changes of their own among those that the step changes, and ignored ones in the place of new ones.
    pub(super) fn in_the_way(&self, top: &Path, from: &str, to: &str) -> Result<Obstacles, GitError> {
        let changes = self.tree_changes(top, from, to)?;
        let reach = Reach::of(changes.iter().map(|change| change.path.clone()).collect());
        let mut files = self.uncommitted(top, Submodules::Counted)?;
        files.retain(|path| reach.meets(path));
        let added = changes.iter().filter(|change| change.old.is_none());
        files.extend(added.filter_map(|change| reach.occupied(top, &change.path)));
        for change in changes.iter().filter(|change| change.is_new_file()) {
            reach.others_below(top, &change.path, &mut files);
        }
        let listed = self.succeed(&alone(top, &["ls-files", "-z", "-v"]))?;
        let conflicts = records(&listed).any(|record| matches!(record.first(), Some(b'M' | b'm')));
        let (overlooked, hidden) = self.overlooked(top, &listed, &changes)?;
        let is_hidden = !hidden.is_empty();
        files.extend(hidden);
        files.sort();
        files.dedup();
        Ok(Obstacles { files, hidden: is_hidden, overlooked, conflicts })
    }

    /// Files that are marked as unchanged or as not to be checked out: those that are on the disk as committed, and
    /// those that have changes of a user's all the same. `listed` is the index with these marks.
    fn overlooked(
        &self,
        top: &Path,
        listed: &[u8],
        changes: &[TreeChange],
    ) -> Result<(Vec<PathBuf>, Vec<PathBuf>), GitError> {
        let marked = |record: &[u8]| match record {
            [mark, b' ', path @ ..] if *mark == b'S' || mark.is_ascii_lowercase() => Some(path_of(path)),
            _ => None,
        };
        let marked: HashSet<PathBuf> = records(listed).filter_map(marked).collect();
        let touched: Vec<&TreeChange> = changes.iter().filter(|change| marked.contains(&change.path)).collect();
        let objects = self.objects_on_disk(top, &touched);
        let (mut same, mut hidden) = (Vec::new(), Vec::new());
        for change in touched {
            if !has_plain_parents(top, &change.path) || !self.is_untouched(top, change, &objects)? {
                hidden.push(change.path.clone());
            } else if top.join(&change.path).symlink_metadata().is_ok() {
                same.push(change.path.clone());
            }
        }
        Ok((same, hidden))
    }

    /// Whether all these files are what the commit has already.
    pub(super) fn are_as_in(&self, top: &Path, commit: &str, files: &[PathBuf]) -> Result<bool, GitError> {
        if files.len() > MOST_COMPARED {
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

    /// What is on the disk where a new file is to be: itself, or a file in the place of a directory above it. For a
    /// directory in the place of the file there is [`Self::others_below`].
    fn occupied(&self, top: &Path, path: &Path) -> Option<PathBuf> {
        let levels = path.ancestors().take_while(|level| !level.as_os_str().is_empty());
        let is_file = |level: &&Path| top.join(level).symlink_metadata().is_ok_and(|found| !found.is_dir());
        // A tracked file that becomes a directory is deleted by the same step.
        let stays = |level: &&Path| *level == path || !self.paths.contains(*level);
        levels.filter(is_file).find(stays).map(Path::to_owned)
    }
    /// What else than files of the old commit is in a directory that a file replaces: git removes the ignored content
    /// along with the directory. A directory without any file of the old commit counts as a whole, because it can be
    /// large, unless some of its files are found already.
    fn others_below(&self, top: &Path, path: &Path, found: &mut Vec<PathBuf>) {
        let directory = top.join(path);
        if !directory.symlink_metadata().is_ok_and(|metadata| metadata.is_dir()) {
            return;
        }
        let own = !self.above.contains(path);
        // What cannot be read is not known to be empty.
        let Ok(entries) = directory.read_dir().and_then(Iterator::collect::<io::Result<Vec<_>>>) else {
            return found.push(path.to_owned());
        };
        if own && (entries.is_empty() || found.iter().any(|other| other.starts_with(path))) {
            return;
        }
        if own {
            return found.push(path.to_owned());
        }
        for entry in entries {
            let below = path.join(entry.file_name());
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                self.others_below(top, &below, found);
            } else if !self.paths.contains(&below) {
                found.push(below);
            }
        }
    }
}
