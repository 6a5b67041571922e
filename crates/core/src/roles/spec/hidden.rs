//! What of a line a reader sees: comments are cut out, and lines of fenced blocks are marked.
//!
//! Invariant: a comment sign within code is text, and a fence within a comment is none.

use crate::values::markdown::Fence;

/// A comment or a fenced block that hides all the rest of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unclosed {
    pub line: usize,
    pub what: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cover {
    Open,
    Code,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Within {
    #[default]
    Text,
    Code {
        fence: Fence,
        line: usize,
    },
    Comment {
        line: usize,
    },
}

/// Goes through the lines of a file from its beginning.
#[derive(Debug, Default)]
pub(super) struct Hiding(Within);

impl Hiding {
    /// What the next line is part of, and what is seen of it.
    pub fn next(&mut self, number: usize, line: &str) -> (Cover, String) {
        if let Within::Code { fence, .. } = self.0 {
            if fence.is_closed_by(line) {
                self.0 = Within::Text;
            }
            return (Cover::Code, line.to_owned());
        }
        let seen = self.without_comments(number, line);
        match Fence::opened_by(&seen).filter(|_| self.0 == Within::Text) {
            Some(fence) => {
                self.0 = Within::Code { fence, line: number };
                (Cover::Code, seen)
            }
            None => (Cover::Open, seen),
        }
    }

    pub fn unclosed(&self) -> Option<Unclosed> {
        match self.0 {
            Within::Text => None,
            Within::Code { line, .. } => Some(Unclosed { line, what: "block of code" }),
            Within::Comment { line } => Some(Unclosed { line, what: "comment" }),
        }
    }

    fn without_comments(&mut self, number: usize, line: &str) -> String {
        let mut seen = String::new();
        let mut rest = line;
        loop {
            if let Within::Comment { .. } = self.0 {
                let Some(end) = rest.find("-->") else { return seen };
                rest = &rest[end + 3..];
                self.0 = Within::Text;
            }
            let Some(begin) = comment_begin(rest) else {
                seen.push_str(rest);
                return seen;
            };
            seen.push_str(&rest[..begin]);
            // `<!-->` is a whole comment, so its dashes may be those of the end.
            rest = &rest[begin + 2..];
            self.0 = Within::Comment { line: number };
        }
    }
}

/// The first `<!--` that is not within back-ticks.
fn comment_begin(text: &str) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find(['`', '<']) {
        let here = at + found;
        let rest = &text[here..];
        if rest.starts_with("<!--") {
            return Some(here);
        }
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        at = here + ticks.max(1);
        if ticks > 0
            && let Some(end) = run_of_ticks(&text[at..], ticks)
        {
            at += end + ticks;
        }
    }
    None
}

/// Where a run of exactly so many back-ticks begins.
fn run_of_ticks(text: &str, wanted: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let rest = &text[at + found..];
        let ticks = rest.len() - rest.trim_start_matches('`').len();
        if ticks == wanted {
            return Some(at + found);
        }
        at += found + ticks;
    }
    None
}
