//! How a path differs between two commits, and whether the disk has what git writes for the later one.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::Read;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::{Git, GitError, alone, path_of, records};

/// Paths in one call; the system limits how many bytes there can be.
const AT_ONCE: usize = 100;

/// What a commit or an index has at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeEntry {
    mode: String,
    object: String,
}

impl TreeEntry {
    fn is_link(&self) -> bool {
        self.mode == "120000"
    }

    pub(super) fn is_file_of(&self, object: &str) -> bool {
        self.object == object && !self.is_link() && !self.is_submodule()
    }

    fn is_submodule(&self) -> bool {
        self.mode == "160000"
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TreeChange {
    pub path: PathBuf,
    pub old: Option<TreeEntry>,
    pub new: Option<TreeEntry>,
}

impl TreeChange {
    pub(super) fn is_new_submodule(&self) -> bool {
        self.old.is_none() && self.new.as_ref().is_some_and(TreeEntry::is_submodule)
    }

    /// Whether git writes a file or a link for it.
    pub(super) fn is_new_file(&self) -> bool {
        self.new.as_ref().is_some_and(|entry| !entry.is_submodule())
    }

    /// The old entry as `git update-index --index-info` reads it.
    pub(super) fn old_line(&self) -> Vec<u8> {
        let entry = match (&self.old, &self.new) {
            (Some(entry), _) => format!("{} {}\t", entry.mode, entry.object),
            (None, new) => format!("0 {}\t", "0".repeat(new.as_ref().map_or(40, |entry| entry.object.len()))),
        };
        [entry.as_bytes(), self.path.as_os_str().as_bytes(), &[0]].concat()
    }
}

impl Git {
    pub(super) fn tree_changes(&self, top: &Path, from: &str, to: &str) -> Result<Vec<TreeChange>, GitError> {
        let words = ["diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-relative"];
        let words: Vec<&str> = words.into_iter().chain(["--end-of-options", from, to, "--"]).collect();
        let output = self.succeed(&alone(top, &words))?;
        let mut records = records(&output);
        let mut changes = Vec::new();
        while let Some((header, path)) = records.next().zip(records.next()) {
            let header = String::from_utf8_lossy(header).into_owned();
            let mut fields = header.trim_start_matches(':').split(' ').map(str::to_owned);
            let mut field = || fields.next().unwrap_or_default();
            let (modes, objects) = ([field(), field()], [field(), field()]);
            let entry = |side: usize| {
                let entry = TreeEntry { mode: modes[side].clone(), object: objects[side].clone() };
                (entry.mode != "000000").then_some(entry)
            };
            changes.push(TreeChange { path: path_of(path), old: entry(0), new: entry(1) });
        }
        Ok(changes)
    }

    /// The entries of an index file that have no conflicts.
    pub(super) fn index_entries(&self, top: &Path, index: &Path) -> Result<HashMap<PathBuf, TreeEntry>, GitError> {
        let listed = self.with_index(index).succeed(&alone(top, &["ls-files", "-z", "--stage"]))?;
        let parse = |record: &[u8]| {
            let tab = record.iter().position(|byte| *byte == b'\t')?;
            let (header, path) = record.split_at(tab);
            let header = String::from_utf8_lossy(header).into_owned();
            let fields: Vec<&str> = header.split(' ').collect();
            let [mode, object, "0"] = fields.as_slice() else { return None };
            Some((path_of(&path[1..]), TreeEntry { mode: (*mode).to_owned(), object: (*object).to_owned() }))
        };
        Ok(records(&listed).filter_map(parse).collect())
    }

    /// Calls of git that use another index than the working tree's own.
    pub(super) fn with_index(&self, index: &Path) -> Self {
        let mut git = self.clone();
        git.variables.push(("GIT_INDEX_FILE".into(), index.into()));
        git
    }

    /// The objects that git would make of the files on the disk. Those that it cannot read are left out, with some of
    /// their neighbours.
    pub(super) fn objects_on_disk(&self, top: &Path, changes: &[&TreeChange]) -> HashMap<PathBuf, String> {
        let is_file = |path: &Path| fs::symlink_metadata(top.join(path)).is_ok_and(|found| found.is_file());
        let files: Vec<&PathBuf> = changes.iter().map(|change| &change.path).filter(|path| is_file(path)).collect();
        let mut objects = HashMap::new();
        for some in files.chunks(AT_ONCE) {
            let mut args = alone(top, &["hash-object", "--"]);
            args.extend(some.iter().map(|path| path.as_os_str()));
            let output = self.succeed(&args).unwrap_or_default();
            let lines = String::from_utf8_lossy(&output).into_owned();
            if lines.lines().count() == some.len() {
                objects.extend(some.iter().copied().cloned().zip(lines.lines().map(str::to_owned)));
            }
        }
        objects
    }

    /// Whether the disk has the old side of the change, or nothing. Submodules are not looked into.
    pub(super) fn is_untouched(
        &self,
        top: &Path,
        change: &TreeChange,
        objects: &HashMap<PathBuf, String>,
    ) -> Result<bool, GitError> {
        let path = &top.join(&change.path);
        let Ok(found) = fs::symlink_metadata(path) else { return Ok(true) };
        let Some(entry) = &change.old else { return Ok(false) };
        if entry.is_link() {
            let blob = self.succeed(&alone(top, &["cat-file", "blob", &entry.object]))?;
            return Ok(fs::read_link(path).is_ok_and(|target| target.as_os_str().as_bytes() == blob));
        }
        let is_executable = found.permissions().mode() & 0o100 != 0;
        let same = objects.get(&change.path).is_some_and(|object| entry.is_file_of(object));
        Ok(entry.is_submodule() || same && is_executable == (entry.mode == "100755"))
    }

    /// Whether the disk has what git writes for the new side of the change, or a beginning of that.
    pub(super) fn is_written(&self, top: &Path, commit: &str, change: &TreeChange) -> Result<bool, GitError> {
        let path = &top.join(&change.path);
        let Some(entry) = change.new.as_ref().filter(|entry| !entry.is_submodule()) else { return Ok(false) };
        let Ok(found) = fs::symlink_metadata(path) else { return Ok(false) };
        let blob = alone(top, &["cat-file", "blob", &entry.object]);
        if found.is_symlink() {
            let Ok(target) = fs::read_link(path) else { return Ok(false) };
            return Ok(entry.is_link() && self.succeed(&blob)? == target.as_os_str().as_bytes());
        }
        if !found.is_file() {
            return Ok(false);
        }
        Ok(found.len() == 0 || self.prints_beginning(&blob, path)? || self.is_filtered(top, commit, change))
    }

    /// Whether what git prints begins with the content of the file. Neither is held in memory.
    fn prints_beginning(&self, args: &[&OsStr], path: &Path) -> Result<bool, GitError> {
        let Ok(mut file) = File::open(path) else { return Ok(false) };
        let mut is_same = true;
        let mut is_read = false;
        let mut own = Vec::new();
        self.stream(args, &mut |printed| {
            own.clear();
            let length = u64::try_from(printed.len()).unwrap_or(u64::MAX);
            is_same = (&mut file).take(length).read_to_end(&mut own).is_ok() && printed.starts_with(&own);
            is_read = own.len() < printed.len();
            if is_same && !is_read { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        })?;
        let is_read = is_read || file.read(&mut [0]).is_ok_and(|more| more == 0);
        Ok(is_same && is_read)
    }

    /// Line endings and filters are as the new commit has them, or as a user's own attributes have them.
    fn is_filtered(&self, top: &Path, commit: &str, change: &TreeChange) -> bool {
        let Some(entry) = &change.new else { return false };
        let mut option = OsString::from("--path=");
        option.push(&change.path);
        let mut args = alone(top, &["cat-file", "--filters"]);
        args.extend([option.as_os_str(), entry.object.as_ref()]);
        let mut of_commit = self.clone();
        of_commit.variables.push(("GIT_ATTR_SOURCE".into(), commit.into()));
        // A filter that fails has written nothing either.
        let written = |git: &Self| git.prints_beginning(&args, &top.join(&change.path)).unwrap_or(false);
        !entry.is_link() && (written(&of_commit) || written(self))
    }
}
