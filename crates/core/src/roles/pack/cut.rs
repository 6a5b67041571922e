//! Cuts a property out of a text with comments. Comments beside it stay: they are the user's, whatever they are about.

use jsonc_parser::{
    ast::{Object, ObjectProp},
    common::Ranged,
};
use std::ops::Range;

/// The text without a property of `object`, without the comma that is needed no more, and without the lines that have
/// nothing else in them.
pub(super) fn without(text: &str, object: &Object<'_>, property: &ObjectProp<'_>) -> String {
    let next = comma_after(text, property.end());
    let earlier = object.properties.iter().take_while(|one| one.start() < property.start()).last();
    let previous = earlier.and_then(|one| comma_after(text, one.end()));
    let mut goes = property.start()..property.end();
    if let Some(comma) = next.filter(|comma| text[goes.end..*comma].trim().is_empty()) {
        goes.end = comma + 1;
    }
    let goes = with_its_gap(text, goes, previous.filter(|_| next.is_none()));
    // The one before is the last now, in a layout without a comma behind the last.
    let comma = next.or(previous);
    let kept = |(at, _): &(usize, char)| !goes.contains(at) && comma != Some(*at);
    text.char_indices().filter(kept).map(|(_, letter)| letter).collect()
}

/// With its whole lines, or with the white space that stood between it and what was beside it.
fn with_its_gap(text: &str, goes: Range<usize>, open_comma: Option<usize>) -> Range<usize> {
    let before = text[..goes.start].trim_end_matches([' ', '\t']);
    let after = text[goes.end..].trim_start_matches([' ', '\t']);
    let behind = text.len() - after.len();
    let line_end = ["\r\n", "\n"].into_iter().find(|end| after.starts_with(end));
    let begins_line = before.is_empty() || before.ends_with('\n');
    match line_end {
        Some(line_end) if begins_line => before.len()..behind + line_end.len(),
        Some(_) => before.len()..goes.end,
        None if open_comma.is_some_and(|comma| comma + 1 == before.len()) => before.len()..goes.end,
        None => goes.start..behind,
    }
}

/// Where the comma behind a value is.
pub(super) fn comma_after(text: &str, at: usize) -> Option<usize> {
    let next = at + trivia(&text[at..], Reach::Further);
    text[next..].starts_with(',').then_some(next)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// Not beyond the end of the line.
    Line,
    Further,
}

/// How far white space and comments reach.
pub(super) fn trivia(text: &str, reach: Reach) -> usize {
    let mut at = 0;
    loop {
        let rest = &text[at..];
        let space = rest.trim_start_matches(|letter: char| {
            letter.is_whitespace() && !(reach == Reach::Line && matches!(letter, '\n' | '\r'))
        });
        if space.len() < rest.len() {
            at += rest.len() - space.len();
        } else if rest.starts_with("//") {
            at += rest.find(['\n', '\r']).unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            at += rest.find("*/").map_or(rest.len(), |end| end + 2);
        } else {
            return at;
        }
    }
}
