//! A change as text: between two commits, or of everything in the working tree, new files included.

use super::{Git, GitError, alone, within};
use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

/// Programs that a repository's attributes name are not run for a diff, and nothing is coloured.
const PLAIN: [&str; 4] = ["diff", "--no-color", "--no-ext-diff", "--no-textconv"];

/// How git says that it does not show a file.
const HIDDEN: &[u8] = b"Binary files ";

/// A diff, file by file.
fn sections(diff: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(diff);
    let mut found: Vec<String> = Vec::new();
    for line in text.split_inclusive('\n') {
        match found.last_mut() {
            Some(last) if !line.starts_with("diff --git ") => last.push_str(line),
            _ => found.push(line.to_owned()),
        }
    }
    found
}

impl Git {
    /// The change of a range such as `main...HEAD`, or from one commit to the working tree.
    pub fn diff_of(&self, directory: &Path, range: &str) -> Result<String, GitError> {
        self.text_of(directory, &["--end-of-options", range, "--"])
    }

    /// Everything that differs from a commit and is not ignored, also what git does not know yet. The user's own
    /// index is left alone: `scratch` is the path of one that is made for this and may be thrown away.
    pub fn diff_of_all(&self, directory: &Path, from: &str, scratch: &Path) -> Result<String, GitError> {
        let mut beside = self.clone();
        let objects =
            self.line(&within(directory, &["rev-parse", "--path-format=absolute", "--git-path", "objects"]))?;
        let own = scratch.with_extension("objects");
        std::fs::create_dir_all(&own)
            .map_err(|source| GitError::Run { command: "make a scratch directory".into(), source })?;
        beside.variables.extend([
            (OsString::from("GIT_INDEX_FILE"), OsStr::new(scratch).to_owned()),
            // Nothing of what is only looked at stays in the repository.
            (OsString::from("GIT_OBJECT_DIRECTORY"), own.into_os_string()),
            (OsString::from("GIT_ALTERNATE_OBJECT_DIRECTORIES"), OsString::from(objects)),
        ]);
        beside.succeed(&alone(directory, &["read-tree", "--end-of-options", from]))?;
        beside.succeed(&alone(directory, &["add", "--all", "--", ":/"]))?;
        beside.text_of(directory, &["--cached", "--end-of-options", from, "--"])
    }

    /// The diff, in which a file that only an attribute calls binary is shown as the text that it is: nobody can
    /// hide a change by a line in a file.
    fn text_of(&self, directory: &Path, which: &[&str]) -> Result<String, GitError> {
        let run = |more: &[&str]| {
            let words: Vec<&str> = PLAIN.iter().chain(more).chain(which).copied().collect();
            self.succeed(&alone(directory, &words))
        };
        let plain = run(&[])?;
        if !plain.windows(HIDDEN.len()).any(|part| part == HIDDEN) {
            return Ok(String::from_utf8_lossy(&plain).into_owned());
        }
        let whole = run(&["--text"])?;
        let (plain, whole) = (sections(&plain), sections(&whole));
        if plain.len() != whole.len() {
            return Ok(plain.concat());
        }
        let shown = plain.into_iter().zip(whole).map(|(plain, whole)| if whole.contains('\0') { plain } else { whole });
        Ok(shown.collect())
    }

    /// The tree with nothing in it, by the name that it has in this repository.
    pub fn empty_tree(&self, directory: &Path) -> Result<String, GitError> {
        self.line(&within(directory, &["hash-object", "-t", "tree", "/dev/null"]))
    }

    /// The commit that a name stands for.
    pub fn commit_of(&self, directory: &Path, name: &str) -> Result<String, GitError> {
        let commit = format!("{name}^{{commit}}");
        self.line(&within(directory, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]))
    }
}
