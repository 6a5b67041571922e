//! When two findings are the same one: the same file, a close line, and words in common as far as the place alone
//! does not decide. All numbers are data.

use super::Finding;
use crate::values::Percent;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// Of a longer text the first words decide; this bounds the work that a reviewer can cause.
const MOST_WORDS: usize = 60;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", default, deny_unknown_fields)]
pub struct Sameness {
    /// Lines that are further apart are different places.
    pub line_tolerance: u32,
    /// How many words have to be common on exactly the same line, when no reviewer has several findings there.
    pub same_line: Percent,
    /// On close lines, and on the same line when a reviewer has several findings there.
    pub near_line: Percent,
    /// When one of the two names no line.
    pub no_line: Percent,
    /// Wherever the line is now: for findings of one reviewer, and from one review to the next.
    pub anywhere: Percent,
    /// A directory that is left out of paths, since some reviewers write it and others do not.
    pub root: String,
}

impl Default for Sameness {
    fn default() -> Self {
        Self {
            line_tolerance: 3,
            same_line: Percent::new(0),
            near_line: Percent::new(25),
            no_line: Percent::new(40),
            anywhere: Percent::new(60),
            root: String::new(),
        }
    }
}

/// A finding as it is compared. It is kept between reviews as the finding's fingerprint.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Key {
    pub(in crate::compare) file: Option<String>,
    pub(in crate::compare) words: BTreeSet<String>,
}

impl Key {
    pub(in crate::compare) fn of(finding: &Finding, sameness: &Sameness) -> Self {
        let file = finding.file.as_ref().map(|file| normalised_path(file, &sameness.root));
        Self { file, words: words(&finding.text) }
    }

    /// Twice the common words, of all words of both.
    pub(in crate::compare) fn likeness(&self, other: &Self) -> Percent {
        let common = self.words.intersection(&other.words).count();
        Percent::share(2 * common, self.words.len() + other.words.len())
    }
}

/// The same finding wherever its line is by now.
pub(in crate::compare) fn is_same_anywhere(one: &Key, other: &Key, sameness: &Sameness) -> bool {
    one.file == other.file && one.likeness(other) >= sameness.anywhere
}

/// A path without the root, without `.` and `..`, with forward slashes.
#[must_use]
pub fn normalised_path(path: &str, root: &str) -> String {
    let path = parts(path);
    let root = parts(root);
    let path =
        if !root.is_empty() && path.len() > root.len() { path.strip_prefix(&root[..]).unwrap_or(&path) } else { &path };
    path.join("/")
}

fn parts(path: &str) -> Vec<&str> {
    let mut kept: Vec<&str> = Vec::new();
    for part in path.trim().split(['/', '\\']) {
        match part {
            "" | "." => {}
            ".." if kept.last().is_some_and(|last| *last != "..") => {
                kept.pop();
            }
            _ => kept.push(part),
        }
    }
    kept
}

/// The words that carry meaning: in lower case, without numbers, which shift with the lines, and without the shortest,
/// which every sentence has. Where that leaves nothing, all words.
fn words(text: &str) -> BTreeSet<String> {
    let lower = text.to_lowercase();
    let all = || lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).flat_map(spelled);
    let telling = |word: &String| {
        let is_number = word.chars().all(char::is_numeric);
        !is_number && (word.chars().count() > 2 || !word.is_ascii())
    };
    let mut words = BTreeSet::new();
    for word in all().filter(telling).take(10 * MOST_WORDS) {
        words.insert(word);
        if words.len() == MOST_WORDS {
            break;
        }
    }
    if words.is_empty() {
        words.extend(all().take(MOST_WORDS));
    }
    if words.is_empty() {
        words.insert(lower.trim().chars().take(MOST_WORDS).collect());
    }
    words
}

/// Scripts that put no spaces between words are taken sign by sign.
fn spelled(word: &str) -> Vec<String> {
    let is_sign = |c: char| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}');
    if word.contains(is_sign) { word.chars().map(String::from).collect() } else { vec![word.to_owned()] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_compared_without_their_spelling() {
        let table = [
            ("src/lib.rs", "", "src/lib.rs"),
            ("./src//lib.rs ", "", "src/lib.rs"),
            ("src\\a\\..\\lib.rs", "", "src/lib.rs"),
            ("/srv/tree/src/lib.rs", "/srv/tree/", "src/lib.rs"),
            ("/srv/trees/src/lib.rs", "/srv/tree", "srv/trees/src/lib.rs"),
            ("../x.rs", "", "../x.rs"),
            ("../../x.rs", "", "../../x.rs"),
            ("/srv/tree", "/srv/tree", "srv/tree"),
        ];
        for (path, root, expected) in table {
            assert_eq!(normalised_path(path, root), expected, "{path}");
        }
    }

    #[test]
    fn words_carry_the_meaning_and_not_the_place() {
        let likeness = |one: &str, other: &str| {
            let key = |text: &str| Key { file: None, words: words(text) };
            key(one).likeness(&key(other)).get()
        };
        assert_eq!(likeness("Line 10: unwrap may panic", "line 4711 – UNWRAP may panic!"), 100);
        assert_eq!(likeness("SQL injection", "unused variable"), 0);
        assert_eq!(likeness("no", "no"), 100);
        assert_eq!(likeness("no", "go"), 0);
        assert_eq!(likeness("?!", "?!"), 100);
        assert_eq!(likeness("空の入力で落ちる", "空の入力で落ちます"), 82);
        assert_eq!(likeness("größe überläuft", "GRÖSSE überläuft"), 50);
        assert!(words(&"w".repeat(1_000_000)).len() == 1);
        assert_eq!(words(&(0..5000).map(|n| format!("word{n} ")).collect::<String>()).len(), MOST_WORDS);
    }
}
