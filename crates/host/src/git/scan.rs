//! The lines of a change, one after the other, so that a change of any size can be examined.
//!
//! Invariant: what is held does not grow with the change. No attribute, setting or program of the repository hides a
//! line, and no line that was added is taken for a part of the format.

use std::ops::ControlFlow;
use std::path::Path;

use super::lines::{Lines, Piece};
use super::{Git, GitError, alone, within};

/// The comparison for machines ignores the user's settings for how a change is shown. Context is not asked for.
const WHOLE: [&str; 11] = [
    "diff-tree",
    "-r",
    "-p",
    "-M",
    "--text",
    "--unified=0",
    "--no-color",
    "--no-ext-diff",
    "--no-textconv",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// One line of a change. Of a very long line the beginning is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiffLine<'a> {
    /// What follows is in this file, as it is called after the change, or before it when it was deleted.
    File {
        path: &'a str,
    },
    /// `number` counts the lines of the file after the change.
    Added {
        number: u64,
        text: &'a str,
    },
    Removed {
        text: &'a str,
    },
}

impl Git {
    /// Hands over each line that differs between two commits or trees, until there are no more or `each` breaks.
    pub fn scan_diff(
        &self,
        directory: &Path,
        from: &str,
        to: &str,
        each: &mut dyn FnMut(DiffLine<'_>) -> ControlFlow<()>,
    ) -> Result<(), GitError> {
        let words: Vec<&str> = ["-c", "core.quotePath=false"]
            .into_iter()
            .chain(WHOLE)
            .chain(["--end-of-options", from, to, "--"])
            .collect();
        let mut lines = Lines::new();
        let mut scanner = DiffScanner::default();
        let mut examine = |piece: Piece<'_>| if piece.begins { scanner.line(piece.bytes, each) } else { CONTINUE };
        self.stream(&alone(directory, &words), &mut |chunk| lines.feed(chunk, &mut examine))
    }

    /// The same for what one commit has changed: against its first parent, or against nothing when it has none.
    pub fn scan_commit(
        &self,
        directory: &Path,
        commit: &str,
        each: &mut dyn FnMut(DiffLine<'_>) -> ControlFlow<()>,
    ) -> Result<(), GitError> {
        match self.scan_diff(directory, &format!("{commit}^1"), commit, each) {
            // Git finds no parent, and has shown nothing yet.
            Err(GitError::Failed { .. }) if self.first_parent(directory, commit)?.is_none() => {
                self.scan_diff(directory, &self.empty_tree(directory)?, commit, each)
            }
            scanned => scanned,
        }
    }

    /// The commit that this one was made on; `None` for the first of a history.
    pub fn first_parent(&self, directory: &Path, commit: &str) -> Result<Option<String>, GitError> {
        let commit = self.commit_of(directory, commit)?;
        let parent = format!("{commit}^1");
        match self.line(&within(directory, &["rev-parse", "--verify", "--quiet", "--end-of-options", &parent])) {
            Ok(parent) => Ok(Some(parent)),
            Err(GitError::Failed { code: Some(1), .. }) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

const CONTINUE: ControlFlow<()> = ControlFlow::Continue(());

/// Follows the format by the counts at the head of each hunk: an added line can begin like a part of the format.
#[derive(Debug, Default)]
struct DiffScanner {
    /// Lines of the hunk that are still to come.
    removed: u64,
    added: u64,
    number: u64,
    former: String,
}

impl DiffScanner {
    fn line(&mut self, line: &[u8], each: &mut dyn FnMut(DiffLine<'_>) -> ControlFlow<()>) -> ControlFlow<()> {
        let text = String::from_utf8_lossy(line.get(1..).unwrap_or_default());
        match line.first() {
            Some(b'+') if self.added > 0 => {
                self.added -= 1;
                self.number += 1;
                each(DiffLine::Added { number: self.number - 1, text: &text })
            }
            Some(b'-') if self.removed > 0 => {
                self.removed -= 1;
                each(DiffLine::Removed { text: &text })
            }
            Some(b'@') if self.added == 0 && self.removed == 0 => {
                (self.removed, self.number, self.added) = hunk(&text).unwrap_or_default();
                CONTINUE
            }
            Some(b'-') => {
                if let Some(path) = text.strip_prefix("-- ") {
                    name(path, "a/").clone_into(&mut self.former);
                }
                CONTINUE
            }
            Some(b'+') => match text.strip_prefix("++ ").map(|path| name(path, "b/")) {
                Some("/dev/null") => each(DiffLine::File { path: &self.former }),
                Some(path) => each(DiffLine::File { path }),
                None => CONTINUE,
            },
            _ => CONTINUE,
        }
    }
}

/// The removed lines, the number of the first added one, and the added lines of `@ -1,2 +3,4 @@ …`.
fn hunk(text: &str) -> Option<(u64, u64, u64)> {
    let (before, rest) = text.strip_prefix("@ -")?.split_once(" +")?;
    let (after, _) = rest.split_once(" @@")?;
    let range = |range: &str| {
        let (start, count) = range.split_once(',').unwrap_or((range, "1"));
        Some((start.parse::<u64>().ok()?, count.parse::<u64>().ok()?))
    };
    let ((_, removed), (number, added)) = (range(before)?, range(after)?);
    Some((removed, number, added))
}

/// A name with a space is followed by a tab, one with other odd letters is in quotes.
fn name<'a>(path: &'a str, prefix: &str) -> &'a str {
    let path = path.trim_end_matches('\t');
    let path = path.strip_prefix('"').and_then(|path| path.strip_suffix('"')).unwrap_or(path);
    path.strip_prefix(prefix).unwrap_or(path)
}
