//! What the readers of Markdown files share: lines that are the text again when put together, and fenced blocks of
//! code.
//!
//! Written here and not taken from a Markdown library: the files are edited line by line with every byte kept, and only
//! fences, comments, headings and list items are of interest. The classifier of prompts has a looser rule of its own,
//! because it sees texts that were cut in the middle of a block.

/// Where a line is: `start..end` is its text, `end..next` its line ending.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Line {
    pub start: usize,
    pub end: usize,
    pub next: usize,
}

pub(crate) fn lines(text: &str) -> Vec<Line> {
    let mut start = 0;
    let split = text.split_inclusive('\n').map(|line| {
        let said = line.strip_suffix('\n').map_or(line, |said| said.strip_suffix('\r').unwrap_or(said));
        let here = Line { start, end: start + said.len(), next: start + line.len() };
        start = here.next;
        here
    });
    let mut all: Vec<Line> = split.collect();
    // A byte order mark belongs to the file and not to the text of its first line.
    if let Some(first) = all.first_mut().filter(|_| text.starts_with('\u{feff}')) {
        first.start = '\u{feff}'.len_utf8();
    }
    all
}

/// An open block of code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Fence {
    mark: char,
    length: usize,
    is_quoted: bool,
}

impl Fence {
    /// The block that this line opens. A fence may be the first thing of a list item or a quote; its end would
    /// otherwise be taken for a beginning.
    pub fn opened_by(line: &str) -> Option<Self> {
        let mut text = line.trim_start();
        let mut is_quoted = false;
        loop {
            if let Some(quote) = text.strip_prefix('>') {
                is_quoted = true;
                text = quote.trim_start();
            } else if let Some(item) = text.strip_prefix(['-', '*', '+']).filter(|item| item.starts_with([' ', '\t'])) {
                text = item.trim_start();
            } else {
                break;
            }
        }
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let info = text.trim_start_matches(mark);
        let length = text.len() - info.len();
        // With a back-tick behind it, it is code within a line.
        (length >= 3 && !(mark == '`' && info.contains('`'))).then_some(Self { mark, length, is_quoted })
    }

    pub fn is_closed_by(self, line: &str) -> bool {
        let text = line.trim_matches(|letter: char| letter.is_whitespace() || (self.is_quoted && letter == '>'));
        text.len() >= self.length && text.chars().all(|letter| letter == self.mark)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_ends_at_a_fence_of_its_own_kind() {
        let table = [
            ("a\n```\nb\n```\nc", ".###."),
            ("```rust\nb\n``` not the end\n~~~\n````\nc", "#####."),
            ("~~~\n```\n~~~\nc", "###."),
            ("````\n```\n````\nc", "###."),
            ("- ```sh\n  b\n  ```\n- c", "###."),
            ("> ```\n> b\n> ```\nc", "###."),
            ("> - ~~~\n> b\n> ~~~\nc", "###."),
            ("```\n> ```\n```\nc", "###."),
            ("-```\nc", ".."),
            ("``` inline ``` code\nb", ".."),
            ("``\nb", ".."),
            ("```\nnever closed\nb", "###"),
        ];
        for (text, hidden) in table {
            let mut open: Option<Fence> = None;
            let seen = text.lines().map(|line| match open {
                Some(fence) => {
                    open = open.filter(|_| !fence.is_closed_by(line));
                    '#'
                }
                None => {
                    open = Fence::opened_by(line);
                    if open.is_some() { '#' } else { '.' }
                }
            });
            assert_eq!(seen.collect::<String>(), hidden, "{text}");
        }
    }

    #[test]
    fn lines_are_the_text_again() {
        for text in ["", "a", "a\n", "a\r\nb", "\u{feff}a\n\n", "\r\n"] {
            let all = lines(text);
            let mark = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
            let whole: String = all.iter().map(|line| &text[line.start..line.next]).collect();
            assert_eq!(whole, text[mark..]);
            assert!(all.iter().all(|line| !text[line.start..line.end].contains(['\n', '\r', '\u{feff}'])), "{text:?}");
        }
    }
}
