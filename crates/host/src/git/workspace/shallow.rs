//! Where the history of a workspace ends: `.git/shallow` names commits whose parents git does not look for.
//!
//! Invariant: our own calls see every commit that is there. A commit that an agent wrote into that file, and whose
//! history is complete, hides nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::super::{Git, GitError};
use super::tips::is_hex;
use super::{Workspace, file_error, is_plain, remove_any, replace_file};

impl Workspace {
    /// Puts the file back as it was recorded, but for commits whose parents really are not there: an agent may have
    /// fetched a part of a history, and so may we.
    pub(super) fn restore_shallow(&self) -> Result<(), GitError> {
        let (place, saved) = (self.git_dir().join("shallow"), self.admin().join("shallow"));
        if place.symlink_metadata().is_err() && !saved.exists() {
            return Ok(());
        }
        let (found, recorded) = (entries(&place), entries(&saved));
        if found == recorded && is_plain(&place) {
            return Ok(());
        }
        let added: Vec<&String> = found.difference(&recorded).collect();
        let git = self.git.bound_to(&self.git_dir(), None)?;
        let mut wanted = recorded.clone();
        for commit in &added {
            if git.lacks_parents(commit)? {
                wanted.insert((*commit).clone());
            }
        }
        let hidden: Vec<&str> = found.difference(&wanted).map(String::as_str).collect();
        // Parents that are there can have parents that are not. Then the file has to stay as it is.
        let wanted = if git.is_walkable(&self.admin(), &hidden, &wanted)? { wanted } else { found.clone() };
        if wanted.is_empty() {
            return remove_any(&place);
        }
        if wanted != found || !is_plain(&place) {
            replace_file(&place, text(&wanted).as_bytes())?;
        }
        Ok(())
    }
}

impl Git {
    /// Whether the commit is there and a parent of it is not. Objects are read as they are, whatever `shallow`
    /// contains.
    fn lacks_parents(&self, commit: &str) -> Result<bool, GitError> {
        let written = match self.succeed(&["cat-file", "commit", commit]) {
            Ok(written) => String::from_utf8_lossy(&written).into_owned(),
            // There is no such commit, and nothing to hide.
            Err(GitError::Failed { code: Some(_), .. }) => return Ok(false),
            Err(error) => return Err(error),
        };
        let header = written.lines().take_while(|line| !line.is_empty());
        for parent in header.filter_map(|line| line.strip_prefix("parent ")) {
            if !self.answer(&["cat-file", "-e", parent])? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether all that comes before these commits is there when history ends at `ends`.
    fn is_walkable(&self, admin: &Path, commits: &[&str], ends: &BTreeSet<String>) -> Result<bool, GitError> {
        if commits.is_empty() {
            return Ok(true);
        }
        let place = admin.join("shallow.draft");
        fs::write(&place, text(ends)).map_err(|source| file_error("write", &place, source))?;
        let mut git = self.clone();
        git.variables.push(("GIT_SHALLOW_FILE".into(), place.into()));
        let words = [&["rev-list", "--quiet", "--ignore-missing", "--end-of-options"], commits].concat();
        match git.succeed(&words) {
            Ok(_) => Ok(true),
            Err(GitError::Failed { code: Some(_), .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }
}

fn entries(file: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(file).unwrap_or_default();
    text.lines().map(str::trim).filter(|line| line.len() >= 40 && is_hex(line)).map(str::to_owned).collect()
}

fn text(entries: &BTreeSet<String>) -> String {
    entries.iter().map(|entry| format!("{entry}\n")).collect()
}
