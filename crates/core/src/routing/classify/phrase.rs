//! A phrase of the configuration, and where it is in a text.
//!
//! `review*` matches any ending, a lone `*` up to five words, and `+1` at the end sets the points. Without it one
//! word is worth two points and each further one a point more: the longer a phrase, the less it is there by chance.

use super::words::{Words, fold, split};

/// The words that a lone `*` may stand for.
const GAP: usize = 5;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Phrase {
    parts: Vec<Part>,
    pub(super) points: i64,
}

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Part {
    stem: String,
    ending: Ending,
    before: Before,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Ending {
    Exact,
    Any,
}

/// The text between a part and the one before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Before {
    Nothing,
    Gap,
}

impl Phrase {
    /// `None` when there is no word in it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut folded = String::with_capacity(text.len());
        fold(text, &mut folded);
        let body = folded.trim();
        let (start, last) = body.rsplit_once(char::is_whitespace).unwrap_or(("", body));
        let points = last.starts_with(['+', '-']).then(|| last.parse::<i64>().ok()).flatten();
        let body = if points.is_some() { start } else { body };
        let mut parts: Vec<Part> = Vec::new();
        let mut before = Before::Nothing;
        let mut words = Vec::new();
        for token in body.split_whitespace() {
            if token == "*" {
                before = Before::Gap;
                continue;
            }
            words.clear();
            split(token, &mut words);
            for (index, word) in words.iter().enumerate() {
                let open = index + 1 == words.len() && token.ends_with('*');
                let ending = if open { Ending::Any } else { Ending::Exact };
                parts.push(Part { stem: (*word).to_owned(), ending, before });
                before = Before::Nothing;
            }
        }
        let natural = i64::try_from(parts.len()).unwrap_or(i64::MAX).saturating_add(1);
        (!parts.is_empty()).then(|| Self { parts, points: points.unwrap_or(natural) })
    }

    /// Whether the phrase that is written as `text` can be among `words`. Hundreds are asked for each text, and most
    /// are ruled out by the beginning of their first word, before anything is taken apart.
    pub(super) fn may_be_in(text: &str, words: &Words<'_>) -> bool {
        let plain = text.bytes().position(|byte| !byte.is_ascii_lowercase()).unwrap_or(text.len());
        words.beginning(&text[..plain]).next().is_some()
    }

    /// The order in which phrases take words: long before short, then strong before weak, then by spelling, so that
    /// the order in the configuration does not matter.
    pub(super) fn rank(&self) -> (usize, i64, &impl Ord) {
        (self.parts.len(), self.points, &self.parts)
    }

    /// The places of its words where it occurs first, of those where no word is `taken`. What takes points away
    /// looks at all words.
    pub(super) fn find(&self, words: &Words<'_>, taken: &[bool]) -> Option<Vec<usize>> {
        let first = self.parts.first()?;
        let mut starts: Vec<usize> =
            words.beginning(&first.stem).filter(|(word, _)| first.matches(word)).map(|(_, place)| place).collect();
        starts.sort_unstable();
        let free = |place: usize| self.points < 0 || !taken.get(place).copied().unwrap_or_default();
        starts.into_iter().filter(|start| free(*start)).find_map(|start| {
            let mut places = vec![start];
            self.follow(&self.parts[1..], words, &free, &mut places).then_some(places)
        })
    }

    fn follow(&self, rest: &[Part], words: &Words<'_>, free: &dyn Fn(usize) -> bool, places: &mut Vec<usize>) -> bool {
        let (Some((part, rest)), Some(last)) = (rest.split_first(), places.last().copied()) else { return true };
        let reach = match part.before {
            Before::Nothing => 0,
            Before::Gap => GAP,
        };
        for place in last + 1..=last + 1 + reach {
            if words.at(place).is_some_and(|word| part.matches(word)) && free(place) {
                places.push(place);
                if self.follow(rest, words, free, places) {
                    return true;
                }
                places.pop();
            }
        }
        false
    }

    /// As it is written in the text. Words that it passes over and the tails of names are left out: what is shown ends
    /// up in logs, and a text may hold anything.
    pub(super) fn quoted(&self, words: &Words<'_>, places: &[usize]) -> String {
        let mut shown = String::from("\"");
        let mut expected = places.first().copied().unwrap_or_default();
        for (part, place) in self.parts.iter().zip(places) {
            if shown.len() > 1 {
                shown.push_str(if *place == expected { " " } else { " … " });
            }
            let word = words.at(*place).filter(|word| word.chars().all(char::is_alphanumeric) && word.len() <= 24);
            shown.push_str(word.unwrap_or(&part.stem));
            expected = place + 1;
        }
        shown.push('"');
        shown
    }
}

impl Part {
    fn matches(&self, word: &str) -> bool {
        match self.ending {
            Ending::Exact => word == self.stem,
            Ending::Any => word.starts_with(&self.stem),
        }
    }
}
