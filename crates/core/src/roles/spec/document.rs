//! A Markdown file as lines: which are headings, which are code, what a reader sees, and the sections that they make.
//!
//! Invariant: nothing within a fenced block or a comment is taken for structure, and the lines put together again are
//! the file, byte for byte.

use super::hidden::{Cover, Hiding, Unclosed};
use crate::values::markdown::lines;

/// Where a line is: `start..end` is its text, `end..next` its line ending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Line {
    pub start: usize,
    pub end: usize,
    pub next: usize,
    pub kind: Kind,
    /// The line without its comments.
    pub seen: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Prose,
    /// A line of a fenced block, its fences included.
    Code,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heading {
    pub level: usize,
    pub title: String,
    /// Counted from one.
    pub line: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    pub(super) text: String,
    pub(super) lines: Vec<Line>,
    headings: Vec<Heading>,
    unclosed: Option<Unclosed>,
}

/// A heading with all lines up to the next heading of its level or a higher one.
#[derive(Debug, Clone, Copy)]
pub struct Section<'d> {
    document: &'d Document,
    pub heading: &'d Heading,
    /// Of the heading among all.
    index: usize,
    /// The line after the last one, counted from zero.
    pub(super) end: usize,
}

impl Document {
    #[must_use]
    pub fn parse(text: &str) -> Self {
        let mut document = Self { text: text.to_owned(), lines: Vec::new(), headings: Vec::new(), unclosed: None };
        let mut hiding = Hiding::default();
        for (index, line) in lines(text).into_iter().enumerate() {
            let (cover, seen) = hiding.next(index + 1, &text[line.start..line.end]);
            let kind = match cover {
                Cover::Code => Kind::Code,
                Cover::Open => Kind::Prose,
            };
            if let Some((level, title)) = heading(&seen).filter(|_| kind == Kind::Prose) {
                document.headings.push(Heading { level, title, line: index + 1 });
            }
            document.lines.push(Line { start: line.start, end: line.end, next: line.next, kind, seen });
        }
        document.unclosed = hiding.unclosed();
        document
    }

    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What was opened and never closed.
    #[must_use]
    pub fn unclosed(&self) -> Option<Unclosed> {
        self.unclosed
    }

    #[must_use]
    pub fn headings(&self) -> &[Heading] {
        &self.headings
    }

    /// The lines with content of the whole file, apart from headings.
    pub fn said(&self) -> impl Iterator<Item = Said<'_>> {
        said(&self.lines, 0, self.lines.len())
    }

    pub fn sections(&self, level: usize) -> impl Iterator<Item = Section<'_>> {
        let wanted = move |index: &usize| self.headings[*index].level == level;
        (0..self.headings.len()).filter(wanted).map(|index| self.section(index))
    }

    fn section(&self, index: usize) -> Section<'_> {
        let heading = &self.headings[index];
        let next = self.headings[index + 1..].iter().find(|next| next.level <= heading.level);
        let end = next.map_or(self.lines.len(), |next| next.line - 1);
        Section { document: self, heading, index, end }
    }
}

impl<'d> Section<'d> {
    /// The sections within this one.
    pub fn parts(self) -> impl Iterator<Item = Section<'d>> {
        let inner = (self.index + 1..self.document.headings.len()).map(move |index| self.document.section(index));
        let inner = inner.take_while(move |part| part.heading.level > self.heading.level);
        inner.filter(move |part| part.heading.level == self.heading.level + 1)
    }

    /// The lines with content, with their numbers. Code counts, headings within do not.
    pub fn said(self) -> impl Iterator<Item = Said<'d>> {
        said(&self.document.lines, self.heading.line, self.end)
    }
}

fn said(lines: &[Line], from: usize, to: usize) -> impl Iterator<Item = Said<'_>> {
    lines[from..to].iter().zip(from + 1..).filter_map(|(line, number)| {
        let text = line.seen.trim();
        let is_code = line.kind == Kind::Code;
        // A list mark alone is an empty item.
        let is_bare = text.is_empty() || (!is_code && matches!(text, "-" | "*" | "+"));
        let is_heading = !is_code && heading(&line.seen).is_some();
        (!is_bare && !is_heading).then_some(Said { line: number, text, is_code })
    })
}

/// A line with content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Said<'d> {
    pub line: usize,
    pub text: &'d str,
    pub is_code: bool,
}

/// How titles are compared: without case, emphasis, a colon at the end, and extra spaces.
#[must_use]
pub fn plain_title(title: &str) -> String {
    let plain: String = title.chars().filter(|letter| !matches!(letter, '*' | '`')).collect();
    let plain = plain.trim().trim_matches('_').trim_end_matches(':');
    plain.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// `## Title`, also with hashes behind it. With four spaces in front it would be code.
fn heading(line: &str) -> Option<(usize, String)> {
    let text = line.trim_start_matches(' ');
    let hashes = text.len() - text.trim_start_matches('#').len();
    if line.len() - text.len() > 3 || !(1..=6).contains(&hashes) {
        return None;
    }
    let rest = &text[hashes..];
    if !rest.is_empty() && !rest.starts_with([' ', '\t']) {
        return None;
    }
    let rest = rest.trim();
    let bare = rest.trim_end_matches('#');
    let title = if bare.is_empty() || bare.ends_with([' ', '\t']) { bare.trim_end() } else { rest };
    Some((hashes, title.to_owned()))
}
