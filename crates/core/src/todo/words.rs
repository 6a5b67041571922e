//! A line as words between whitespace, and which of them are code.

use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word<'t> {
    pub text: &'t str,
    /// In the line.
    pub at: Range<usize>,
    /// At least a part of it is in back-ticks: it is quoted, not set.
    pub is_code: bool,
}

/// The words of a line from a place on.
pub(super) fn words(line: &str, from: usize) -> Vec<Word<'_>> {
    let text = &line[from..];
    let mut code = code_spans(text).into_iter().peekable();
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(space) = text[at..].find(|c: char| !c.is_whitespace()) {
        let start = at + space;
        at = text[start..].find(char::is_whitespace).map_or(text.len(), |length| start + length);
        while code.next_if(|span| span.end <= start).is_some() {}
        let is_code = code.peek().is_some_and(|span| span.start < at);
        words.push(Word { text: &text[start..at], at: from + start..from + at, is_code });
    }
    words
}

/// As Markdown has it: a run of back-ticks is closed by the next run of the same length, and one that is never
/// closed is plain text.
fn code_spans(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += match byte {
            b'\\' => 2,
            b'`' => {
                let length = run(bytes, at);
                match closing(bytes, at + length, length) {
                    Some(end) => {
                        spans.push(at..end);
                        end - at
                    }
                    None => length,
                }
            }
            _ => 1,
        };
    }
    spans
}

fn run(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().take_while(|byte| **byte == b'`').count()
}

/// Where the span ends that a run of this length began.
fn closing(bytes: &[u8], mut at: usize, length: usize) -> Option<usize> {
    while at < bytes.len() {
        match run(bytes, at) {
            0 => at += 1,
            found if found == length => return Some(at + found),
            found => at += found,
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_back_ticks_are_code() {
        let table = [
            ("a b", "a b"),
            ("a `b` c", "a # c"),
            ("`a b` c", "# # c"),
            ("`a` b `c` d", "# b # d"),
            ("x`a`y z", "# z"),
            ("don`t stop", "don`t stop"),
            ("``a ` b`` c", "# # # c"),
            ("`a ``b` c", "# # c"),
            (r"\`a b\` c", r"\`a b\` c"),
            (r"`a\` b", "# b"),
            ("ä\u{a0}`ö` ü", "ä # ü"),
        ];
        for (line, seen) in table {
            let shown: Vec<&str> =
                words(line, 0).into_iter().map(|word| if word.is_code { "#" } else { word.text }).collect();
            assert_eq!(shown.join(" "), seen, "{line}");
            for word in words(line, 0) {
                assert_eq!(&line[word.at.clone()], word.text);
            }
        }
    }
}
