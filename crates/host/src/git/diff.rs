//! A change as text: between two commits, or of everything in the working tree, new files included.

use super::{Git, GitError, within};
use std::{
    ffi::{OsStr, OsString},
    path::Path,
};

/// Programs that a repository's attributes name are not run for a diff, and nothing is coloured.
const PLAIN: [&str; 4] = ["diff", "--no-color", "--no-ext-diff", "--no-textconv"];

impl Git {
    /// The change of a range such as `main...HEAD`, or from one commit to the working tree.
    pub fn diff_of(&self, directory: &Path, range: &str) -> Result<String, GitError> {
        let mut words: Vec<&str> = PLAIN.to_vec();
        words.extend(["--end-of-options", range, "--"]);
        Ok(String::from_utf8_lossy(&self.succeed(&within(directory, &words))?).into_owned())
    }

    /// Everything that differs from a commit and is not ignored, also what git does not know yet. The user's own
    /// index is left alone: `scratch` is the path of one that is made for this and may be thrown away.
    pub fn diff_of_all(&self, directory: &Path, from: &str, scratch: &Path) -> Result<String, GitError> {
        let mut beside = self.clone();
        beside.variables.push((OsString::from("GIT_INDEX_FILE"), OsStr::new(scratch).to_owned()));
        beside.succeed(&within(directory, &["read-tree", "--end-of-options", from]))?;
        beside.succeed(&within(directory, &["add", "--all", "--", ":/"]))?;
        let mut words: Vec<&str> = PLAIN.to_vec();
        words.extend(["--cached", "--end-of-options", from, "--"]);
        Ok(String::from_utf8_lossy(&beside.succeed(&within(directory, &words))?).into_owned())
    }

    /// The commit that a name stands for.
    pub fn commit_of(&self, directory: &Path, name: &str) -> Result<String, GitError> {
        let commit = format!("{name}^{{commit}}");
        self.line(&within(directory, &["rev-parse", "--verify", "--quiet", "--end-of-options", &commit]))
    }
}
