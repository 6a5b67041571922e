//! The part of a text that is classified, split into prose and pasted material, with the signs that it shows.
//!
//! Only the prose is searched for words and hints: a pasted program contains "test" and "fix" for reasons of its own.

use super::{
    line::{begins_diff, continues_diff, is_code, is_error, is_fence, is_trace},
    words::{fold, split},
};
use crate::settings::Classifier;
use crate::values::Sign;
use std::collections::BTreeSet;

/// The request is at the beginning or at the end, and what lies between is material. So no more than this many
/// bytes from either side are looked at, which also bounds the time for a text of any size.
const HEAD: usize = 4 * 1024;
const TAIL: usize = 2 * 1024;

/// Fewer lines that look like code count as prose.
const CODE_LINES: usize = 3;

#[derive(Debug)]
pub(super) struct Reading<'a> {
    /// The lines of prose, as they were written.
    pub(super) talk: Vec<&'a str>,
    /// The prose without links, from which the words are taken.
    pub(super) folded: String,
    pub(super) signs: BTreeSet<Sign>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Talk,
    /// Talk, unless there is more of the kind.
    MaybeCode,
    Fence,
    Pasted,
}

impl<'a> Reading<'a> {
    pub(super) fn new(text: &'a str, images: usize, classifier: &Classifier) -> Self {
        let mut signs = size_signs(text, images, classifier);
        let mut lines = Vec::new();
        let (head, tail) = ends(text);
        part(head, Fenced::No, &mut lines, &mut signs);
        // The tail may begin within a block whose fence was cut off: then it holds one fence without its fellow.
        let fences = tail.lines().filter(|line| is_fence(line)).count();
        part(tail, if fences % 2 == 1 { Fenced::Yes } else { Fenced::No }, &mut lines, &mut signs);

        let of_kind = |kind: Kind| lines.iter().filter(|(found, _)| *found == kind).count();
        let is_program = of_kind(Kind::MaybeCode) >= CODE_LINES;
        let pasted_otherwise = [Sign::Diff, Sign::StackTrace, Sign::ErrorText].iter().any(|sign| signs.contains(sign));
        if (is_program && !signs.contains(&Sign::Diff)) || (of_kind(Kind::Fence) > 0 && !pasted_otherwise) {
            signs.insert(Sign::Code);
        }
        let is_talk = |kind: Kind| kind == Kind::Talk || (kind == Kind::MaybeCode && !is_program);
        let talk: Vec<&str> = lines.into_iter().filter(|(kind, _)| is_talk(*kind)).map(|(_, line)| line).collect();
        let folded = without_links(&talk, &mut signs);
        question_signs(&talk, &folded, &mut signs);
        Self { talk, folded, signs }
    }
}

/// Counted only as far as needed.
fn size_signs(text: &str, images: usize, classifier: &Classifier) -> BTreeSet<Sign> {
    let trimmed = trim(text);
    let has_more_than = |limit: usize| trimmed.chars().nth(limit).is_some();
    let shown = [
        (Sign::Short, !has_more_than(classifier.short)),
        (Sign::Long, has_more_than(classifier.long)),
        (Sign::Image, images > 0),
    ];
    shown.into_iter().filter(|(_, shows)| *shows).map(|(sign, _)| sign).collect()
}

/// Trims blanks, eight bytes at a time: this is the one step that reads a megabyte of blank lines as a whole.
fn trim(text: &str) -> &str {
    let (words, _) = text.as_bytes().as_chunks::<8>();
    let start = 8 * words.iter().take_while(|word| is_blank(word)).count();
    let (_, words) = text.as_bytes()[start..].as_rchunks::<8>();
    let end = text.len() - 8 * words.iter().rev().take_while(|word| is_blank(word)).count();
    text[start..end].trim()
}

/// Whether no byte is above the space. (A control character at an end counts as blank when all around it is.)
fn is_blank(word: &[u8; 8]) -> bool {
    const HIGH_BITS: u64 = u64::from_ne_bytes([0x80; 8]);
    // Raises each ASCII byte above the space to the high bit.
    const TO_HIGH_BIT: u64 = u64::from_ne_bytes([0x80 - (b' ' + 1); 8]);
    let word = u64::from_ne_bytes(*word);
    (word | word.wrapping_add(TO_HIGH_BIT)) & HIGH_BITS == 0
}

fn ends(text: &str) -> (&str, &str) {
    if text.len() <= HEAD + TAIL {
        return (text, "");
    }
    (&text[..text.floor_char_boundary(HEAD)], &text[text.ceil_char_boundary(text.len() - TAIL)..])
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fenced {
    Yes,
    No,
}

fn part<'a>(text: &'a str, mut fenced: Fenced, lines: &mut Vec<(Kind, &'a str)>, signs: &mut BTreeSet<Sign>) {
    let mut in_diff = false;
    for line in text.lines() {
        in_diff = begins_diff(line) || (in_diff && continues_diff(line));
        let trace = is_trace(line);
        let error = !in_diff && is_error(line);
        let seen = [(Sign::Diff, in_diff), (Sign::StackTrace, trace), (Sign::ErrorText, error)];
        signs.extend(seen.into_iter().filter(|(_, is_there)| *is_there).map(|(sign, _)| sign));
        let kind = if is_fence(line) {
            fenced = if fenced == Fenced::Yes { Fenced::No } else { Fenced::Yes };
            in_diff = false;
            Kind::Fence
        } else if fenced == Fenced::Yes || in_diff || trace {
            Kind::Pasted
        } else if is_code(line) {
            Kind::MaybeCode
        } else {
            Kind::Talk
        };
        lines.push((kind, line));
    }
}

/// An address is no prose: its path describes the place and not the task.
fn without_links(talk: &[&str], signs: &mut BTreeSet<Sign>) -> String {
    let mut folded = String::new();
    for token in talk.iter().flat_map(|line| line.split_whitespace()) {
        if token.contains("://") {
            if token.contains("http://") || token.contains("https://") {
                signs.insert(Sign::Url);
            }
            continue;
        }
        fold(token, &mut folded);
        folded.push(' ');
    }
    folded
}

fn question_signs(talk: &[&str], folded: &str, signs: &mut BTreeSet<Sign>) {
    const ASKING: [&str; 9] = ["what", "whats", "which", "who", "when", "where", "why", "how", "whose"];
    const YES_NO: [&str; 9] = ["is", "are", "was", "were", "does", "did", "has", "isnt", "doesnt"];
    /// These may also begin a request, as in "do it", and need the mark.
    const MAYBE_YES_NO: [&str; 6] = ["do", "have", "can", "could", "will", "would"];
    const ADDRESSED: [&str; 4] = ["can", "could", "would", "will"];
    let mut words = Vec::new();
    split(&folded[..folded.floor_char_boundary(200)], &mut words);
    let (first, second) = (words.first().copied().unwrap_or_default(), words.get(1).copied().unwrap_or_default());
    // "Could you rename it?" is a request.
    if first == "please" || (ADDRESSED.contains(&first) && ["you", "we", "i"].contains(&second)) {
        return;
    }
    let mut lines = talk.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
    let begins = lines.next().unwrap_or_default();
    let ends = lines.next_back().unwrap_or(begins);
    let marked = ends.trim_end_matches(['"', '\'', ')', '`', '*']).ends_with(['?', '？', '؟']) || begins.contains("? ");
    if marked || ASKING.contains(&first) {
        signs.insert(Sign::Question);
    }
    if YES_NO.contains(&first) || (marked && MAYBE_YES_NO.contains(&first)) {
        signs.insert(Sign::YesNo);
    }
}

#[cfg(test)]
mod tests {
    use super::trim;

    #[test]
    fn blanks_of_any_length_are_trimmed_as_the_standard_library_does() {
        for inner in ["", "a", "é", "fix it", "ünï\n\n\n\n\n\n\n\n\n\ncödé", "\u{a0}wide\u{2003}", "!"] {
            for blank in [" ", "\n", "\r\n", "\t \n", "\u{2003}\n"] {
                for (before, after) in (0..20).flat_map(|before| (0..20).map(move |after| (before, after))) {
                    let text = [&blank.repeat(before), inner, &blank.repeat(after)].concat();
                    assert_eq!(trim(&text), text.trim(), "{text:?}");
                }
            }
        }
    }
}
