//! Takes the authors' names out of what a judge reads, since a judge may favour its own kind.
//!
//! A name is replaced where it reads as a name: with its version, or written with a capital. It stays when
//! the question itself speaks of it, and in code, because there it is the subject, and hiding it would make right
//! answers wrong. So this makes recognition harder and never impossible; only labels and headings are sure to reveal
//! nothing.

mod pieces;

use crate::ModelRef;
use pieces::{Piece, pieces};

const REPLACEMENT: &str = "[name]";

/// What a target may be called.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Names {
    pub provider: String,
    pub model: String,
    /// Other names of it, as a catalogue shows them.
    pub also: Vec<String>,
}

impl Names {
    #[must_use]
    pub fn of(model: &ModelRef) -> Self {
        Self { provider: model.provider.clone(), model: model.model.clone(), also: Vec::new() }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Mask {
    names: Vec<Name>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Masked {
    pub text: String,
    pub replaced: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Name {
    words: Vec<String>,
    /// Words of the full name that may follow a part of it, as `Sonnet` and `4` follow `Claude`.
    tail: Vec<String>,
}

impl Mask {
    /// All names of all targets are taken out of every answer: taking out only an author's own would mark it.
    #[must_use]
    pub fn new(targets: &[Names], question: &str) -> Self {
        let mut names: Vec<Name> = targets.iter().flat_map(names_of).collect();
        let asked = pieces(question);
        names.retain(|name| !(0..asked.len()).any(|at| name.length_at(&asked, at, Case::Any).is_some()));
        // The longest first, so that a full name is not taken for its first word.
        names.sort_by(|a, b| b.words.len().cmp(&a.words.len()).then_with(|| a.words.cmp(&b.words)));
        names.dedup();
        Self { names }
    }

    #[must_use]
    pub fn apply(&self, text: &str) -> Masked {
        let mut masked = Masked { text: String::with_capacity(text.len()), replaced: 0 };
        let mut in_block = false;
        for line in text.split_inclusive('\n') {
            let opens = ["```", "~~~"].iter().any(|mark| line.trim_start().starts_with(mark));
            if in_block || opens {
                masked.text.push_str(line);
                in_block ^= opens;
                continue;
            }
            let spans: Vec<&str> = line.split('`').collect();
            for (index, span) in spans.iter().enumerate() {
                if index > 0 {
                    masked.text.push('`');
                }
                // An odd span is code when its backtick is closed.
                if index % 2 == 1 && index + 1 < spans.len() {
                    masked.text.push_str(span);
                } else {
                    self.replace(span, &mut masked);
                }
            }
        }
        masked
    }

    fn replace(&self, text: &str, masked: &mut Masked) {
        let found = pieces(text);
        let (mut at, mut copied) = (0, 0);
        while at < found.len() {
            let length = self.names.iter().filter_map(|name| name.length_at(&found, at, Case::Capital)).max();
            let Some(length) = length else {
                at += 1;
                continue;
            };
            masked.text.push_str(&text[copied..found[at].start]);
            masked.text.push_str(REPLACEMENT);
            masked.replaced += 1;
            copied = found[at + length - 1].end;
            at += length;
        }
        masked.text.push_str(&text[copied..]);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Case {
    /// A single word has to begin with a capital: `Command` may be a name, `command` is a word.
    Capital,
    Any,
}

impl Name {
    /// How many pieces from `at` on are this name, with its version.
    fn length_at(&self, found: &[Piece<'_>], at: usize, case: Case) -> Option<usize> {
        let fits = |offset: usize, word: &String| {
            found.get(at + offset).is_some_and(|piece| piece.folded == *word && (offset == 0 || piece.is_near()))
        };
        if !found[at].starts_word || !self.words.iter().enumerate().all(|(offset, word)| fits(offset, word)) {
            return None;
        }
        if self.words.len() == 1 && case == Case::Capital && !found[at].is_capital() {
            return None;
        }
        let mut length = self.words.len();
        while let Some(piece) = found.get(at + length) {
            let is_version = piece.is_attached() && piece.folded.chars().any(|c| c.is_ascii_digit());
            let is_rest = piece.is_near() && self.tail.contains(&piece.folded);
            let is_suffix = piece.gap.is_empty();
            if !(is_version || is_rest || is_suffix) {
                break;
            }
            length += 1;
        }
        Some(length)
    }
}

fn names_of(target: &Names) -> Vec<Name> {
    let words = |text: &str| -> Vec<String> { pieces(text).into_iter().map(|piece| piece.folded).collect() };
    // The id of a gateway's model begins with its maker: `meta/llama-4`.
    let parts: Vec<&str> = target.model.split('/').collect();
    let (own, makers) = parts.split_last().map_or(("", &[][..]), |(own, makers)| (*own, makers));
    let tail = words(own);
    let mut names: Vec<Vec<String>> = vec![words(own)];
    names.extend(tail.first().map(|family| vec![family.clone()]));
    names.push(words(&target.provider));
    names.extend(makers.iter().map(|maker| words(maker)));
    names.extend(target.also.iter().map(|name| words(name)));
    // One or two letters are a word in every other sentence.
    names.retain(|name| name.len() > 1 || name.first().is_some_and(|word| word.chars().count() > 2));
    names.into_iter().map(|words| Name { words, tail: tail.clone() }).collect()
}

#[cfg(test)]
mod tests;
