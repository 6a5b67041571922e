//! Foreign text made fit to be shown: nothing in it moves the cursor, turns the writing around or hides.

/// What cannot be shown is replaced by this, so that a reader sees that something was there.
pub(crate) const REPLACED: char = '\u{fffd}';

/// Keeps lines and tabs; every other control character is replaced, and what is invisible is left out.
#[must_use]
pub fn clean(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\n' | '\t' => out.push(character),
            '\r' if characters.peek() == Some(&'\n') => {}
            '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            _ if character.is_control() => out.push(REPLACED),
            _ if hides(character) => {}
            _ => out.push(character),
        }
    }
    out
}

/// One line of at most `most` characters; a dot leader marks what was cut off.
#[must_use]
pub fn clean_line(text: &str, most: usize) -> String {
    let clean = clean(&head(text, most.saturating_mul(4)));
    cut(&clean.split_whitespace().collect::<Vec<_>>().join(" "), most)
}

/// Several lines of at most `most` characters.
pub(crate) fn clean_text(text: &str, most: usize) -> String {
    cut(clean(&head(text, most.saturating_mul(4))).trim(), most)
}

fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => text.chars().take(most.saturating_sub(1)).chain(['…']).collect(),
    }
}

/// Bounds the work on a text of any length, with a reserve for what cleaning leaves out.
fn head(text: &str, most: usize) -> String {
    text.chars().take(most.saturating_add(1)).collect()
}

/// Characters without a shape that change how others are read. Joiners are kept: whole scripts need them.
fn hides(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn nothing_moves_turns_or_hides() {
        let table = [
            ("plain\n\ttext", "plain\n\ttext"),
            ("a\r\nb\rc", "a\nb\nc"),
            ("\u{1b}[31mred\u{7}", "\u{fffd}[31mred\u{fffd}"),
            ("left\u{202e}thgir\u{200b}", "leftthgir"),
            ("tag\u{e0041}\u{e0042}", "tag"),
            ("نمی\u{200c}خواهم 👩\u{200d}💻", "نمی\u{200c}خواهم 👩\u{200d}💻"),
            ("\u{9b}2J", "\u{fffd}2J"),
        ];
        for (text, expected) in table {
            assert_eq!(clean(text), expected, "{text:?}");
        }
        assert_eq!(clean_line("  a\n\n b\tc  ", 10), "a b c");
        assert_eq!(clean_line("abcdef", 4), "abc…");
        assert_eq!(clean_line("abcd", 4), "abcd");
        assert_eq!(clean_text("x\ny", 3), "x\ny");
    }

    proptest! {
        #[test]
        fn any_text_ends_up_short_and_harmless(text in any::<String>(), most in 1usize..40) {
            let line = clean_line(&text, most);
            prop_assert!(line.chars().count() <= most);
            prop_assert!(!line.contains(char::is_control));
            prop_assert!(!clean(&text).contains(|c: char| c.is_control() && c != '\n' && c != '\t'));
            prop_assert_eq!(clean(&clean(&text)), clean(&text));
        }
    }
}
