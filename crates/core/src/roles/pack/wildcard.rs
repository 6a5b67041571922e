//! The globs of permission rules: `*` is any text, `?` one character, all else is itself.
//!
//! As in OpenCode, a pattern covers the whole text, a backslash is a slash on both sides, a trailing ` *` may
//! be missing together with its space, and a character is a UTF-16 unit.

use std::collections::BTreeSet;

/// Whether the whole of `text` fits `pattern`.
#[must_use]
pub fn matches(text: &str, pattern: &str) -> bool {
    let text: Vec<Token> = units(text).map(Token::Unit).collect();
    variants(pattern).iter().any(|pattern| fits(&text, pattern))
}

/// Whether every text that fits `narrow` also fits `wide`.
///
/// A yes is always right. A no may be wrong where only several patterns together cover one.
#[must_use]
pub fn covers(wide: &str, narrow: &str) -> bool {
    let wide = variants(wide);
    variants(narrow).iter().all(|narrow| wide.iter().any(|wide| fits(narrow, wide)))
}

/// A text that fits both patterns, when there is one.
#[must_use]
pub fn common(left: &str, right: &str) -> Option<String> {
    let rights = variants(right);
    variants(left).iter().flat_map(|left| rights.iter().map(move |right| (left, right))).find_map(|(left, right)| {
        let mut walk = Walk { left, right, seen: BTreeSet::new(), text: Vec::new() };
        walk.from(0, 0).then(|| String::from_utf16_lossy(&walk.text))
    })
}

/// Looks for a text by walking through two patterns at once.
struct Walk<'a> {
    left: &'a [Token],
    right: &'a [Token],
    /// Places from which the ends cannot be reached, or that are being tried.
    seen: BTreeSet<(usize, usize)>,
    text: Vec<u16>,
}

impl Walk<'_> {
    fn from(&mut self, left: usize, right: usize) -> bool {
        if !self.seen.insert((left, right)) {
            return false;
        }
        let (of_left, of_right) = (self.left.get(left).copied(), self.right.get(right).copied());
        match (of_left, of_right) {
            (None, None) => true,
            // A star is nothing, or takes what the other side has next.
            (Some(Token::Any), next) => {
                self.from(left + 1, right) || next.is_some_and(|next| self.taking(next, left, right + 1))
            }
            (next, Some(Token::Any)) => {
                self.from(left, right + 1) || next.is_some_and(|next| self.taking(next, left + 1, right))
            }
            (Some(Token::Unit(one)), Some(Token::Unit(other))) => {
                one == other && self.taking(Token::Unit(one), left + 1, right + 1)
            }
            (Some(Token::One), Some(next)) | (Some(next), Some(Token::One)) => self.taking(next, left + 1, right + 1),
            (None, Some(_)) | (Some(_), None) => false,
        }
    }

    fn taking(&mut self, next: Token, left: usize, right: usize) -> bool {
        let length = self.text.len();
        match next {
            Token::Unit(unit) => self.text.push(unit),
            Token::One => self.text.push(u16::from(b'x')),
            Token::Any => {}
        }
        let arrived = self.from(left, right);
        if !arrived {
            self.text.truncate(length);
        }
        arrived
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    Unit(u16),
    One,
    Any,
}

fn units(text: &str) -> impl Iterator<Item = u16> {
    text.encode_utf16().map(|unit| if unit == u16::from(b'\\') { u16::from(b'/') } else { unit })
}

fn tokens(pattern: &str) -> Vec<Token> {
    let token = |unit| match u8::try_from(unit) {
        Ok(b'*') => Token::Any,
        Ok(b'?') => Token::One,
        _ => Token::Unit(unit),
    };
    units(pattern).map(token).collect()
}

/// The pattern, and for a trailing ` *` the pattern without it.
fn variants(pattern: &str) -> Vec<Vec<Token>> {
    let bare = pattern.strip_suffix(" *").map(tokens);
    std::iter::once(tokens(pattern)).chain(bare).collect()
}

/// Walks both at once; on a mismatch the last star takes one more. A star in `text` is only taken by a star.
fn fits(text: &[Token], pattern: &[Token]) -> bool {
    let (mut at, mut step) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < text.len() {
        match pattern.get(step) {
            Some(Token::Any) => {
                star = Some((step, at));
                step += 1;
            }
            Some(Token::One) if text[at] != Token::Any => {
                at += 1;
                step += 1;
            }
            Some(Token::Unit(unit)) if text[at] == Token::Unit(*unit) => {
                at += 1;
                step += 1;
            }
            Some(Token::One | Token::Unit(_)) | None => {
                let Some((back, taken)) = star else { return false };
                star = Some((back, taken + 1));
                step = back + 1;
                at = taken + 1;
            }
        }
    }
    pattern[step..].iter().all(|token| *token == Token::Any)
}
