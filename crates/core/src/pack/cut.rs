//! Cuts a property out of a text with comments. Comments beside it stay: they are the user's, whatever they are about.

use jsonc_parser::{
    common::Range,
    tokens::{Token, TokenAndRange},
};

pub fn is_comment(token: &TokenAndRange<'_>) -> bool {
    matches!(token.token, Token::CommentLine(_) | Token::CommentBlock(_))
}

/// The text without the property at `property`, without the comma that it needs no more, and without its lines if
/// nothing else is in them.
pub fn without(text: &str, property: Range, tokens: &[TokenAndRange<'_>]) -> String {
    let is_comma = |token: &&TokenAndRange<'_>| matches!(token.token, Token::Comma);
    let said = || tokens.iter().filter(|token| !is_comment(token));
    let next = said().find(|token| token.range.start >= property.end).filter(is_comma).map(|token| token.range);
    let previous = said().rev().find(|token| token.range.end <= property.start).filter(is_comma);
    let comma = next.or(previous.map(|token| token.range));
    let mut goes = property;
    if let Some(next) = next.filter(|next| text[goes.end..next.start].trim().is_empty()) {
        goes.end = next.end;
    }
    let before = text[..goes.start].trim_end_matches([' ', '\t']);
    let after = text[goes.end..].trim_start_matches([' ', '\t']);
    let line_end = ["\r\n", "\n"].into_iter().find(|end| after.starts_with(end));
    let begins_line = before.is_empty() || before.ends_with('\n');
    if let Some(line_end) = line_end.filter(|_| begins_line) {
        goes = Range { start: before.len(), end: text.len() - after.len() + line_end.len() };
    } else if previous.is_some_and(|comma| next.is_none() && comma.range.end == before.len()) {
        // It was the last in its line: the gap before it goes with it.
        goes.start = before.len();
    }
    let kept = |(at, _): &(usize, char)| {
        let inside = |range: Range| range.start <= *at && *at < range.end;
        !inside(goes) && !comma.is_some_and(inside)
    };
    text.char_indices().filter(kept).map(|(_, letter)| letter).collect()
}
