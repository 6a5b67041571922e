//! A text as words, and the place of each.
//!
//! A word is a run of letters and digits in small letters. Paths, file names and identifiers stay whole, so that
//! `src/review.rs` or `test_case` are names and no mention of a review or a test.

/// Cuts small-letter words out of `text`, which is in small letters already, and adds them to `words`.
pub(super) fn split<'a>(text: &'a str, words: &mut Vec<&'a str>) {
    for token in text.split(is_break) {
        let token = token.trim_matches(|c: char| !c.is_alphanumeric());
        if token.is_empty() {
            continue;
        }
        // One slash between plain words joins alternatives, as in "review/fix"; anything else is a path.
        let is_name = token.contains(['_', '.', ':', '\\', '@']) || token.matches('/').count() > 1;
        if is_name {
            words.push(token);
        } else {
            words.extend(token.split('/').filter(|word| !word.is_empty()));
        }
    }
}

/// Adds `text` in small letters and without apostrophes, so that "What's" and "whats" are one word.
pub(super) fn fold(text: &str, folded: &mut String) {
    for c in text.chars().filter(|c| !matches!(c, '\'' | '’')) {
        if c.is_ascii() {
            folded.push(c.to_ascii_lowercase());
        } else {
            folded.extend(c.to_lowercase());
        }
    }
}

/// What may be inside a name does not end a word; everything else that is no letter or digit does.
fn is_break(c: char) -> bool {
    !(c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '\\' | '@' | '/'))
}

/// The words in order, and an index by spelling.
#[derive(Debug)]
pub(super) struct Words<'a> {
    list: Vec<&'a str>,
    /// Sorted. The number is the beginning of the word: most comparisons end there.
    sorted: Vec<(u64, &'a str, usize)>,
}

impl<'a> Words<'a> {
    pub(super) fn new(folded: &'a str) -> Self {
        let mut list = Vec::new();
        split(folded, &mut list);
        let mut sorted: Vec<_> =
            list.iter().enumerate().map(|(place, word)| (beginning_of(word), *word, place)).collect();
        sorted.sort_unstable();
        Self { list, sorted }
    }

    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    pub(super) fn at(&self, place: usize) -> Option<&'a str> {
        self.list.get(place).copied()
    }

    /// The words that begin with `stem`, by spelling and then by place.
    pub(super) fn beginning(&self, stem: &str) -> impl Iterator<Item = (&'a str, usize)> {
        let wanted = (beginning_of(stem), stem);
        let from = self.sorted.partition_point(|(beginning, word, _)| (*beginning, *word) < wanted);
        let rest = self.sorted[from..].iter().map(|(_, word, place)| (*word, *place));
        rest.take_while(move |(word, _)| word.starts_with(stem))
    }
}

/// The first eight bytes, in the order of the spelling: a word holds no zero byte, so a shorter one sorts first.
fn beginning_of(word: &str) -> u64 {
    word.bytes().chain(std::iter::repeat(0)).take(8).fold(0, |number, byte| number << 8 | u64::from(byte))
}
