//! What a change shows that must not go along: secrets, and conflicts that were left standing.
//!
//! Invariant: each scanner sees one line after the other and keeps only what it found.

use shuntyard_core::{values::redact::committed_secret, work::task::Secret};
use shuntyard_host::git::DiffLine;
use std::ops::ControlFlow;

/// Suspicious lines that are named.
const SECRETS: usize = 20;

/// Finds added lines that have a secret in them, with their place in the file.
#[derive(Debug, Default)]
pub(super) struct SecretScanner {
    path: String,
    found: Vec<Secret>,
}

impl SecretScanner {
    /// Breaks when enough was found.
    pub(super) fn line(&mut self, line: DiffLine<'_>) -> ControlFlow<()> {
        match line {
            DiffLine::File { path } => path.clone_into(&mut self.path),
            DiffLine::Added { number, text } => {
                if let Some(looks_like) = committed_secret(text) {
                    let looks_like = looks_like.to_owned();
                    self.found.push(Secret { path: self.path.clone(), line: number, looks_like });
                }
            }
            DiffLine::Removed { .. } => {}
        }
        if self.is_full() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    pub(super) fn is_full(&self) -> bool {
        self.found.len() >= SECRETS
    }

    pub(super) fn found(self) -> Vec<Secret> {
        self.found
    }
}

/// Finds files to which both marks of a conflict were added: an agent that gave up in the middle of a merge leaves
/// them, and so does a command.
#[derive(Debug, Default)]
pub(super) struct ConflictScanner {
    path: String,
    begun: bool,
    found: Vec<String>,
}

impl ConflictScanner {
    pub(super) fn line(&mut self, line: DiffLine<'_>) -> ControlFlow<()> {
        match line {
            DiffLine::File { path } => {
                path.clone_into(&mut self.path);
                self.begun = false;
            }
            DiffLine::Added { text, .. } if text.starts_with("<<<<<<< ") => self.begun = true,
            DiffLine::Added { text, .. } if text.starts_with(">>>>>>> ") => {
                if self.begun && self.found.last() != Some(&self.path) {
                    self.found.push(self.path.clone());
                }
            }
            DiffLine::Added { .. } | DiffLine::Removed { .. } => {}
        }
        ControlFlow::Continue(())
    }

    pub(super) fn found(self) -> Vec<String> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: DiffLine<'_> = DiffLine::File { path: "src/x.rs" };

    fn unmerged(lines: &[DiffLine<'_>]) -> Vec<String> {
        let mut scanner = ConflictScanner::default();
        for line in [FILE].iter().chain(lines) {
            assert!(scanner.line(*line).is_continue());
        }
        scanner.found()
    }

    fn added(texts: &[&'static str]) -> Vec<DiffLine<'static>> {
        (1..).zip(texts).map(|(number, text)| DiffLine::Added { number, text }).collect()
    }

    #[test]
    fn both_marks_of_a_conflict_show_one_that_was_left() {
        let conflict = ["<<<<<<< HEAD", "a", "=======", "b", ">>>>>>> other"];
        assert_eq!(unmerged(&added(&conflict)), ["src/x.rs"]);
        let removed = conflict.map(|text| DiffLine::Removed { text });
        assert_eq!(unmerged(&removed).len(), 0, "one that was taken out");
        assert_eq!(unmerged(&added(&["=======", "a title", "======="])).len(), 0);
        assert_eq!(unmerged(&added(&["<<<<<<< HEAD in a text"])).len(), 0);
        let mut apart = added(&["<<<<<<< HEAD"]);
        apart.push(DiffLine::File { path: "other.rs" });
        apart.extend(added(&[">>>>>>> other"]));
        assert_eq!(unmerged(&apart).len(), 0, "in two files");
    }

    #[test]
    fn an_added_secret_is_named_with_its_place() {
        let secret = "KEY=sk-proj-0123456789abcdefghij";
        let mut scanner = SecretScanner::default();
        for line in [FILE, DiffLine::Added { number: 2, text: secret }, DiffLine::Removed { text: secret }] {
            assert!(scanner.line(line).is_continue());
        }
        let found = scanner.found();
        assert_eq!(found.len(), 1);
        assert_eq!((found[0].path.as_str(), found[0].line), ("src/x.rs", 2));
    }

    #[test]
    fn enough_is_enough() {
        let mut scanner = SecretScanner::default();
        let mut number = 0;
        while scanner.line(DiffLine::Added { number, text: "sk-proj-0123456789abcdefghij" }).is_continue() {
            number += 1;
            assert!(number < 1000);
        }
        assert_eq!(scanner.found().len(), SECRETS);
    }
}
