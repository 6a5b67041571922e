//! The globs of permission rules: `*` is any text, `?` one character, all else is itself.
//!
//! As in OpenCode, a pattern covers the whole text, a backslash is a slash on both sides, a trailing ` *` may
//! be missing together with its space, and a character is a UTF-16 unit.

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
