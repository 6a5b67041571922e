//! Sets the content of one section of a file, and keeps every other byte of the file.
//!
//! Invariant: an edit that would change how any other part of the file is read is refused, and one that changes
//! nothing gives the same bytes.

use super::document::{Document, Heading, Section, plain_title};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error("there is no section `## {0}`")]
    Missing(String),
    #[error("the section `## {title}` is there more than once: lines {}", listed(lines))]
    Twice { title: String, lines: Vec<usize> },
    #[error(
        "the new text of `## {0}` would change how the rest is read: it has a heading, or leaves a comment or code open"
    )]
    Breaks(String),
}

/// The text with another content of the section. Blank lines around the content stay as they are; line ends become
/// those of the file.
pub fn set_section(text: &str, title: &str, content: &str) -> Result<String, EditError> {
    let document = Document::parse(text);
    let place = place_of(&document, title)?;
    let ending = line_ending(&document);
    let content = in_lines(content, ending);
    let edited = replaced(&document, place, &content, ending);
    if keeps_the_rest(&document, &edited, title, &content) {
        Ok(edited)
    } else {
        Err(EditError::Breaks(title.to_owned()))
    }
}

/// The content of a section, without the blank lines around it, byte for byte.
pub fn section_text<'d>(document: &'d Document, title: &str) -> Result<&'d str, EditError> {
    let place = place_of(document, title)?;
    Ok(spoken(document, place)
        .map_or("", |(first, last)| &document.text[document.lines[first].start..document.lines[last].end]))
}

fn place_of<'d>(document: &'d Document, title: &str) -> Result<Section<'d>, EditError> {
    let wanted = plain_title(title);
    let found: Vec<Section<'d>> =
        document.sections(2).filter(|section| plain_title(&section.heading.title) == wanted).collect();
    match found.as_slice() {
        [] => Err(EditError::Missing(title.to_owned())),
        [one] => Ok(*one),
        several => {
            let lines = several.iter().map(|section| section.heading.line).collect();
            Err(EditError::Twice { title: title.to_owned(), lines })
        }
    }
}

/// The first and the last line of the section that are not blank, counted from zero.
fn spoken(document: &Document, section: Section<'_>) -> Option<(usize, usize)> {
    let says = |line: &usize| {
        let line = &document.lines[*line];
        !document.text[line.start..line.end].trim().is_empty()
    };
    let mut range = section.heading.line..section.end;
    let first = range.find(says)?;
    Some((first, range.rev().find(says).unwrap_or(first)))
}

fn replaced(document: &Document, section: Section<'_>, content: &str, ending: &str) -> String {
    let text = &document.text;
    if let Some((first, last)) = spoken(document, section) {
        let (from, to) = (document.lines[first].start, document.lines[last].end);
        return [&text[..from], content, &text[to..]].concat();
    }
    if content.is_empty() {
        return text.clone();
    }
    let heading = &document.lines[section.heading.line - 1];
    let (head, blank) = (&text[..heading.end], &text[heading.end..heading.next]);
    let first = if blank.is_empty() { ending } else { blank };
    let Some(next) = document.lines.get(section.end) else {
        // The file goes on to end as it did, with a line end or without.
        let last = if text.ends_with('\n') { ending } else { "" };
        return [head, first, ending, content, last].concat();
    };
    [head, first, ending, content, ending, ending, &text[next.start..]].concat()
}

/// Reads the edited file again: the same headings are there with the same bytes below them.
fn keeps_the_rest(before: &Document, edited: &str, title: &str, content: &str) -> bool {
    let after = Document::parse(edited);
    let wanted = plain_title(title);
    let others = |document: &Document| -> Vec<(String, String)> {
        let top: Vec<&Heading> = document.headings().iter().filter(|heading| heading.level <= 2).collect();
        let ends = top.iter().skip(1).map(|next| document.lines[next.line - 1].start).chain([document.text.len()]);
        let sections = top.iter().zip(ends).map(|(heading, end)| {
            let body = &document.text[document.lines[heading.line - 1].end..end];
            let is_it = heading.level == 2 && plain_title(&heading.title) == wanted;
            (heading.title.clone(), if is_it { String::new() } else { body.to_owned() })
        });
        sections.collect()
    };
    // What hides the rest of a file from within another section did so before.
    let kind = |document: &Document| document.unclosed().map(|open| open.what);
    let opens_nothing = after.unclosed().is_none() || kind(&after) == kind(before);
    opens_nothing && others(before) == others(&after) && section_text(&after, title).is_ok_and(|now| now == content)
}

/// Without blank lines around it, each line ended as the file does.
fn in_lines(content: &str, ending: &str) -> String {
    let lines: Vec<&str> = content.lines().map(|line| line.trim_end_matches('\r')).collect();
    let says = |line: &&str| !line.trim().is_empty();
    let Some(first) = lines.iter().position(says) else { return String::new() };
    let last = lines.iter().rposition(says).unwrap_or(first);
    lines[first..=last].join(ending)
}

/// The ending that the file uses first. A return at the very end would become half of one.
fn line_ending(document: &Document) -> &'static str {
    let first = document.lines.first().map_or("", |line| &document.text[line.end..line.next]);
    let returns = first == "\r\n" || (first.is_empty() && document.text.ends_with('\r'));
    if returns { "\r\n" } else { "\n" }
}

fn listed(lines: &[usize]) -> String {
    lines.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}
