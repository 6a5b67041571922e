//! A change as text: between two commits, or of everything in the working tree, new files included.
//!
//! Invariant: no more of it is held than was asked for, and a file is left out only for what it holds: no attribute can
//! hide a change.

use super::excerpt::Excerpt;
use super::lines::Lines;
use super::{Git, GitError, alone, shown, within};
use crate::bounded::MOST_OUTPUT;
use std::{
    ffi::{OsStr, OsString},
    ops::ControlFlow,
    path::Path,
};

/// Programs that a repository's attributes name are not run for a diff, and nothing is coloured. Every file is shown as
/// text; binary content is recognized by its bytes.
const PLAIN: [&str; 5] = ["diff", "--text", "--no-color", "--no-ext-diff", "--no-textconv"];

impl Git {
    /// The change of a range as a patch that can be applied, byte for byte.
    pub fn patch_of(&self, directory: &Path, range: &str) -> Result<Vec<u8>, GitError> {
        let words = ["diff", "--binary", "--full-index", "--no-color", "--no-ext-diff", "--no-textconv"];
        let words = [&words[..], &["--end-of-options", range, "--"]].concat();
        let mut patch = Vec::new();
        let mut is_cut = false;
        self.stream(&alone(directory, &words), &mut |chunk| {
            if patch.len() + chunk.len() > MOST_OUTPUT {
                is_cut = true;
                return ControlFlow::Break(());
            }
            patch.extend_from_slice(chunk);
            ControlFlow::Continue(())
        })?;
        match is_cut {
            true => Err(GitError::TooLarge { command: shown(&alone(directory, &words)), limit: MOST_OUTPUT }),
            false => Ok(patch),
        }
    }

    /// The change of a range such as `main...HEAD`, or from one commit to the working tree.
    pub fn diff_of(&self, directory: &Path, range: &str) -> Result<String, GitError> {
        self.whole(directory, &["--end-of-options", range, "--"])
    }

    /// Everything that differs from a commit and is not ignored, also what git does not know yet. The user's own
    /// index is not touched: `scratch` is the path of one that is made for this and may be thrown away.
    pub fn diff_of_all(&self, directory: &Path, from: &str, scratch: &Path) -> Result<String, GitError> {
        let beside = self.with_all_added(directory, from, scratch)?;
        beside.whole(directory, &["--cached", "--end-of-options", from, "--"])
    }

    /// Git with an index of its own, to which everything was added.
    fn with_all_added(&self, directory: &Path, from: &str, scratch: &Path) -> Result<Self, GitError> {
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
        Ok(beside)
    }

    /// The beginning of a change, for a reader who looks at no more than so many bytes. Git is ended after them.
    pub fn diff_start(&self, directory: &Path, range: &str, limit: usize) -> Result<String, GitError> {
        Ok(self.excerpt(directory, &["--end-of-options", range, "--"], limit)?.into_text())
    }

    /// The same of [`Git::diff_of_all`].
    pub fn diff_start_of_all(
        &self,
        directory: &Path,
        from: &str,
        scratch: &Path,
        limit: usize,
    ) -> Result<String, GitError> {
        let beside = self.with_all_added(directory, from, scratch)?;
        Ok(beside.excerpt(directory, &["--cached", "--end-of-options", from, "--"], limit)?.into_text())
    }

    fn whole(&self, directory: &Path, which: &[&str]) -> Result<String, GitError> {
        let excerpt = self.excerpt(directory, which, MOST_OUTPUT)?;
        if excerpt.is_cut() {
            let command = shown(&alone(directory, &[&PLAIN[..], which].concat()));
            return Err(GitError::TooLarge { command, limit: MOST_OUTPUT });
        }
        Ok(excerpt.into_text())
    }

    fn excerpt(&self, directory: &Path, which: &[&str], limit: usize) -> Result<Excerpt, GitError> {
        let mut excerpt = Excerpt::new(limit);
        let mut lines = Lines::new();
        let words = [&PLAIN[..], which].concat();
        self.stream(&alone(directory, &words), &mut |chunk| lines.feed(chunk, &mut |piece| excerpt.add(piece)))?;
        Ok(excerpt)
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

    /// The same, but a full name is taken as it is: the caller's next step has to fail without such a commit.
    pub(super) fn full_name(&self, directory: &Path, name: &str) -> Result<String, GitError> {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        let is_full = matches!(name.len(), 40 | 64) && name.bytes().all(is_digit);
        if is_full { Ok(name.to_owned()) } else { self.commit_of(directory, name) }
    }
}
