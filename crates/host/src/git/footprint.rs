//! The state of a checkout and its repository at one moment, to be compared with a later one.
//!
//! Invariant: taking it changes nothing. It takes no lock and starts neither hooks nor a file system monitor, and its
//! cost is bounded: ignored directories are not entered, large files are not read, entries beyond a limit are counted.

mod disk;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::{Git, GitError, alone, path_of, records, within};
use disk::Reader;

/// More entries than that are only counted.
const ENTRIES: usize = 20_000;
/// Moves of one reference that are looked at.
const MOVES: &str = "--max-count=1000";
/// Moved references whose history is looked at.
const MOVED: usize = 200;
/// Where Shuntyard keeps its own commits in a repository.
const OWN: &str = "refs/shuntyard/";
/// The branches of its tasks.
const OWN_BRANCHES: &str = "refs/heads/shuntyard/";
/// The newest stash; the others are in its log.
const STASH: &str = "refs/stash";
/// The reason that Shuntyard gives for each of its moves of a reference.
const REASON: &str = "shuntyard";
/// Files in git's directory that configure the repository.
const SETTINGS: [&str; 4] = ["config", "config.worktree", "info/exclude", "info/attributes"];
/// The same of all repositories, from the home directory.
const GLOBAL_SETTINGS: [&str; 2] = [".gitconfig", ".config/git/config"];

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Footprint {
    /// The directory that all working trees of the repository share.
    pub git_directory: PathBuf,
    /// The branch as `refs/heads/…`, or the commit when no branch is checked out.
    pub head: String,
    /// None before the first commit.
    pub commit: Option<String>,
    /// By their path from the top: what git lists as changed, untracked or ignored, and what the earlier footprint
    /// listed.
    pub files: BTreeMap<PathBuf, FileTrace>,
    pub uncounted: usize,
    /// Without Shuntyard's own and without the stash.
    pub references: BTreeMap<String, String>,
    /// Commits that Shuntyard has brought into the repository, or that a branch of it is at.
    pub recorded: BTreeSet<String>,
    /// The newest first.
    pub stashes: Vec<String>,
    pub settings: BTreeMap<String, u64>,
    pub hooks: BTreeMap<String, u64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTrace {
    pub listing: Listing,
    /// Mode and object in the index, when they differ from the commit.
    pub staged: Option<String>,
    pub disk: OnDisk,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Listing {
    /// Git does not mention it: it is as committed, or there is nothing.
    Unlisted,
    Tracked,
    /// New in the index.
    Added,
    Untracked,
    Ignored,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum OnDisk {
    Absent,
    Directory,
    File {
        size: u64,
        modified_nanos: i128,
        inode: u64,
        /// A hash of the content and of the mode; None when that would cost too much.
        content: Option<u64>,
    },
}

impl Git {
    /// `earlier` is the footprint that this one will be compared with: all its paths are read again.
    pub fn footprint(&self, top: &Path, earlier: Option<&Footprint>) -> Result<Footprint, GitError> {
        let git_directory = self.common_directory(top)?;
        let status = self.listed(top)?;
        let mut reader = Reader::new(top);
        let (mut files, mut uncounted) = (BTreeMap::new(), 0);
        for (path, (listing, staged)) in status.entries {
            if files.len() < ENTRIES {
                let disk = reader.read(&path, listing != Listing::Ignored);
                files.insert(path, FileTrace { listing, staged, disk });
            } else {
                uncounted += 1;
            }
        }
        for (path, trace) in earlier.into_iter().flat_map(|earlier| &earlier.files) {
            files.entry(path.clone()).or_insert_with(|| {
                let was_read = matches!(trace.disk, OnDisk::File { content: Some(_), .. });
                FileTrace { listing: Listing::Unlisted, staged: None, disk: reader.read(path, was_read) }
            });
        }
        let mut references = self.all_references(top)?;
        let stashes = if references.remove(STASH).is_some() { self.stashes(top)? } else { Vec::new() };
        let (own, references): (BTreeMap<_, _>, BTreeMap<_, _>) =
            references.into_iter().partition(|(name, _)| name.starts_with(OWN));
        Ok(Footprint {
            head: status.head,
            commit: status.commit,
            files,
            uncounted,
            references,
            recorded: own.into_iter().filter(|(name, _)| is_delivered(name)).map(|(_, commit)| commit).collect(),
            stashes,
            settings: disk::hashes(&git_directory, settings_in(&git_directory)),
            hooks: disk::hashes(&git_directory.join("hooks"), disk::names(&git_directory.join("hooks"))),
            git_directory,
        })
    }

    /// The references that only deliveries of Shuntyard have moved between the two footprints.
    pub fn moved_by_deliveries(
        &self,
        top: &Path,
        before: &Footprint,
        after: &Footprint,
    ) -> Result<BTreeSet<String>, GitError> {
        let mut found = BTreeSet::new();
        let moved = after.references.iter().filter(|(name, at)| before.references.get(*name) != Some(*at));
        for (name, at) in moved.take(MOVED) {
            let explained = after.recorded.contains(at)
                || match before.references.get(name) {
                    Some(from) => self.delivered(top, name, from, at)?,
                    None => false,
                };
            if explained {
                found.insert(name.clone());
            }
        }
        Ok(found)
    }

    /// Whether every move between the two commits has our reason. A reference without a history proves nothing.
    fn delivered(&self, top: &Path, name: &str, from: &str, to: &str) -> Result<bool, GitError> {
        let words = ["log", "--walk-reflogs", MOVES, "-z", "--format=%H %gs", "--end-of-options", name, "--"];
        let output = self.succeed(&alone(top, &words))?;
        let history = String::from_utf8_lossy(&output);
        let mut moves = history.split('\0').filter_map(|entry| entry.split_once(' ')).peekable();
        if moves.peek().is_none_or(|(at, _)| *at != to) {
            return Ok(false);
        }
        let is_ours = |reason: &str| reason.split(':').next() == Some(REASON);
        Ok(moves.find(|(at, reason)| *at == from || !is_ours(reason)).is_some_and(|(at, _)| at == from))
    }

    fn listed(&self, top: &Path) -> Result<Status, GitError> {
        let words = [
            "status",
            "--porcelain=v2",
            "--branch",
            "--no-ahead-behind",
            "-z",
            "--untracked-files=all",
            "--ignored=matching",
            "--no-renames",
            "--ignore-submodules=none",
        ];
        let mut status = Status::parse(&self.succeed(&alone(top, &words))?);
        let listed: BTreeSet<PathBuf> = status.entries.iter().map(|(path, _)| path.clone()).collect();
        let hidden = self.hidden(top)?.into_iter().filter(|path| !listed.contains(path));
        status.entries.splice(0..0, hidden.map(|path| (path, (Listing::Tracked, None))));
        Ok(status)
    }

    /// Tracked files with a bit by which git does not look at them, as far as they are on the disk.
    fn hidden(&self, top: &Path) -> Result<Vec<PathBuf>, GitError> {
        let listed = self.succeed(&alone(top, &["ls-files", "-v", "-z", "--full-name", "--", ":/"]))?;
        let is_hidden = |letter: u8| letter == b'S' || letter.is_ascii_lowercase();
        let hidden = records(&listed).filter(|entry| entry.first().copied().is_some_and(is_hidden));
        let paths = hidden.map(|entry| path_of(entry.get(2..).unwrap_or_default()));
        Ok(paths.filter(|path| top.join(path).symlink_metadata().is_ok()).collect())
    }

    fn all_references(&self, top: &Path) -> Result<BTreeMap<String, String>, GitError> {
        let output = self.succeed(&within(top, &["for-each-ref", "--format=%(objectname) %(refname)"]))?;
        let text = String::from_utf8_lossy(&output);
        let named = text.lines().filter_map(|line| line.split_once(' '));
        let kept = named.filter(|(_, name)| !name.starts_with(OWN_BRANCHES));
        Ok(kept.map(|(commit, name)| (name.to_owned(), commit.to_owned())).collect())
    }

    fn stashes(&self, top: &Path) -> Result<Vec<String>, GitError> {
        let output = self.succeed(&alone(top, &["stash", "list", "-z", "--format=%H"]))?;
        Ok(records(&output).map(|commit| String::from_utf8_lossy(commit).trim().to_owned()).collect())
    }
}

/// The files of settings, with the links to the other working trees. Those of all repositories have their whole path.
fn settings_in(git_directory: &Path) -> Vec<String> {
    let trees = disk::names(&git_directory.join("worktrees"));
    let trees = trees.into_iter().map(|name| format!("worktrees/{name}/gitdir"));
    let home = std::env::var("HOME").ok().filter(|home| home.starts_with('/'));
    let global = home.iter().flat_map(|home| GLOBAL_SETTINGS.map(|name| format!("{home}/{name}")));
    SETTINGS.into_iter().map(str::to_owned).chain(trees).chain(global).collect()
}

/// Whether a ref of ours is at something that was delivered. Others pin what the user has.
fn is_delivered(name: &str) -> bool {
    ["/delivered/", "/branch/"].iter().any(|kind| name.contains(kind))
}

#[derive(Default)]
struct Status {
    head: String,
    commit: Option<String>,
    /// In git's order: tracked, untracked, ignored.
    entries: Vec<(PathBuf, (Listing, Option<String>))>,
}

impl Status {
    fn parse(output: &[u8]) -> Self {
        let mut status = Self::default();
        let mut forgotten = BTreeMap::new();
        for record in records(output) {
            let (fields, listing) = match record.first() {
                Some(b'#') => {
                    status.head_line(&String::from_utf8_lossy(record));
                    continue;
                }
                Some(b'1') => (9, Listing::Tracked),
                Some(b'u') => (11, Listing::Tracked),
                Some(b'?') => (2, Listing::Untracked),
                Some(b'!') => (2, Listing::Ignored),
                Some(_) | None => continue,
            };
            let parts: Vec<&[u8]> = record.splitn(fields, |byte| *byte == b' ').collect();
            let [_, .., path] = parts.as_slice() else { continue };
            let path = path_of(path.strip_suffix(b"/").unwrap_or(path));
            match parts.get(1) {
                Some([index, worktree]) if fields > 2 => {
                    let text = |at: usize| parts.get(at).map(|part| String::from_utf8_lossy(part));
                    let staged = (*index != b'.')
                        .then(|| format!("{} {}", text(4).unwrap_or_default(), text(7).unwrap_or_default()));
                    let listing = if [*index, *worktree].contains(&b'A') { Listing::Added } else { listing };
                    if *index == b'D' {
                        forgotten.insert(path.clone(), status.entries.len());
                    }
                    status.entries.push((path, (listing, staged)));
                }
                _ => match forgotten.get(&path).and_then(|at| status.entries.get_mut(*at)) {
                    // Still there, although the index does not have it any more.
                    Some((_, (known, _))) => *known = listing,
                    None => status.entries.push((path, (listing, None))),
                },
            }
        }
        status
    }

    fn head_line(&mut self, line: &str) {
        if let Some(commit) = line.strip_prefix("# branch.oid ") {
            self.commit = (commit != "(initial)").then(|| commit.to_owned());
        }
        if let Some(branch) = line.strip_prefix("# branch.head ") {
            self.head = match (&self.commit, branch) {
                (Some(commit), "(detached)") => commit.clone(),
                (_, branch) => format!("refs/heads/{branch}"),
            };
        }
    }
}
