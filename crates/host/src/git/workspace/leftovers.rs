//! What a setup command leaves in a workspace is never committed; what an agent adds to it or changes in it is.
//!
//! Invariant: exactly the files that setup left, by their names, are left out of the work, for as long as they are as
//! setup left them. Git is set to ignore them, a whole directory by one line, so that an agent does not commit them.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::super::{Git, GitError, alone, path_of, records, within};
use super::collect::AT_ONCE;
use super::{Record, Workspace, file_error, read_record, remove_any, replace_file, write_record};
use crate::paths::write_private;

/// In the admin directory: the files that setup left.
const LEFTOVERS: &str = "leftovers";
/// In the admin directory: the exclude file without the lines for them.
const OWN_EXCLUDE: &str = "exclude.own";

impl Workspace {
    /// From now on until [`Workspace::ignore_leftovers`] has ended, whatever changes here is setup's and no work.
    pub fn begin_setup(&mut self) -> Result<(), GitError> {
        self.record.setting_up = true;
        self.save_record()
    }

    /// After a setup that failed or was cut off: the repository and the files are as before it, because no agent has
    /// worked here since. Repeated after a death, it begins anew.
    pub(super) fn undo_setup(&self) -> Result<(), GitError> {
        let Some(record) = read_record(&self.admin()).filter(|record| record.setting_up) else { return Ok(()) };
        if let Some(replaced) = self.exchange_repository()? {
            remove_any(&replaced)?;
        }
        let (own, exclude) = (self.admin().join(OWN_EXCLUDE), self.admin().join("exclude"));
        if let Ok(own) = fs::read(own) {
            self.save_file(&exclude, &own)?;
        }
        remove_any(&self.admin().join(LEFTOVERS))?;
        remove_all_others(&self.git()?, &self.directory)?;
        self.undo_in_modules()?;
        write_record(&self.admin(), &Record { setting_up: false, ..record })
    }

    /// Puts the commit and the tracked files back that were there before, and has git ignore the new ones, which the
    /// work may need.
    pub fn ignore_leftovers(&mut self, head: &str) -> Result<(), GitError> {
        self.git.await_stragglers()?;
        let git = self.git()?;
        git.succeed(&within(&self.directory, &["reset", "--hard", "--quiet", head]))?;
        self.ignore_in_modules()?;
        let (exclude, own) = (self.admin().join("exclude"), self.admin().join(OWN_EXCLUDE));
        // Repeated after a death, it begins from the same file.
        if !own.is_file() {
            self.save_file(&own, &fs::read(&exclude).unwrap_or_default())?;
        }
        let found = self.untracked(&git, &[])?;
        let mut lines = Vec::new();
        for path in records(&found) {
            lines.extend(state(&self.directory, path).into_bytes());
            lines.push(b' ');
            lines.extend([path, b"\0"].concat());
        }
        self.save_file(&self.admin().join(LEFTOVERS), &lines)?;
        if records(&found).next().is_some() {
            let mut text = fs::read(&own).unwrap_or_default();
            text.extend(patterns(&self.untracked(&git, &["--directory", "--no-empty-directory"])?));
            self.save_file(&exclude, &text)?;
            self.restore_configuration()?;
        }
        (self.record.set_up, self.record.setting_up) = (true, false);
        self.save_record()
    }

    /// Adds what is new or changed among the leftovers to the index.
    pub(super) fn add_to_leftovers(&self, git: &Git) -> Result<(), GitError> {
        let Ok(left) = fs::read(self.admin().join(LEFTOVERS)) else { return Ok(()) };
        let left: HashMap<&[u8], &[u8]> = records(&left).filter_map(split).collect();
        if left.is_empty() {
            return Ok(());
        }
        let found = self.untracked(git, &[])?;
        let is_left =
            |path: &&[u8]| left.get(path).is_some_and(|as_left| *as_left == state(&self.directory, path).as_bytes());
        let new: Vec<PathBuf> = records(&found).filter(|path| !is_left(path)).map(path_of).collect();
        let mut literal = git.clone();
        literal.variables.push(("GIT_LITERAL_PATHSPECS".into(), "1".into()));
        for part in new.chunks(AT_ONCE) {
            let mut args = within(&self.directory, &["add", "--force", "--sparse", "--"]);
            args.extend(part.iter().map(|path| path.as_os_str()));
            literal.succeed(&args)?;
        }
        Ok(())
    }

    /// Files that are neither tracked nor ignored by a file of the user's.
    fn untracked(&self, git: &Git, how: &[&str]) -> Result<Vec<u8>, GitError> {
        let own = fs::read(self.admin().join(OWN_EXCLUDE)).unwrap_or_default();
        replace_file(&self.git_dir().join("info/exclude"), &own)?;
        let words = ["ls-files", "--others", "--exclude-standard", "-z"];
        let found = git.succeed(&within(&self.directory, &[&words[..], how].concat()));
        self.restore_configuration()?;
        found
    }

    fn save_file(&self, place: &Path, bytes: &[u8]) -> Result<(), GitError> {
        write_private(place, bytes).map_err(|source| file_error("write", place, source))
    }
}

/// Leaves only what the commit that is checked out has. Nested repositories and ignored files go as well.
pub(super) fn remove_all_others(git: &Git, top: &Path) -> Result<(), GitError> {
    git.succeed(&alone(top, &["reset", "--hard", "--quiet"]))?;
    let others = git.succeed(&alone(top, &["ls-files", "--others", "--directory", "-z", "--", ":/"]))?;
    records(&others).try_for_each(|path| remove_any(&top.join(path_of(path.strip_suffix(b"/").unwrap_or(path)))))
}

/// The state that shows whether a file was written to. A repository inside, which git shows as a directory, is one
/// thing.
fn state(top: &Path, path: &[u8]) -> String {
    match top.join(path_of(path)).symlink_metadata() {
        Ok(found) if found.is_dir() => "directory".to_owned(),
        Ok(found) => format!("{:o}-{}-{}.{:09}", found.mode(), found.len(), found.mtime(), found.mtime_nsec()),
        Err(_) => "absent".to_owned(),
    }
}

/// State and path of one line.
fn split(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = line.iter().position(|byte| *byte == b' ')?;
    Some((&line[end + 1..], &line[..end]))
}

/// Lines of an exclude file for exactly these paths. A line break cannot be written there: any character stands for it.
pub(super) fn patterns(paths: &[u8]) -> Vec<u8> {
    let mut lines = vec![b'\n'];
    for path in records(paths) {
        lines.push(b'/');
        for byte in path {
            match byte {
                b'\n' => lines.push(b'?'),
                b'*' | b'?' | b'[' | b'\\' | b'#' | b'!' | b' ' | b'\r' => lines.extend([b'\\', *byte]),
                other => lines.push(*other),
            }
        }
        lines.push(b'\n');
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::patterns;

    #[test]
    fn a_path_is_a_pattern_for_itself() {
        assert_eq!(patterns(b"a b/[x]*\0venv/\0two\nlines\0"), b"\n/a\\ b/\\[x]\\*\n/venv/\n/two?lines\n");
    }
}
