//! Names and differences of files whose content is untrusted, escaped for a terminal: nothing in them moves the cursor
//! or hides, and a reader sees that something was there.

use shuntyard_core::values::clean_line;

/// Longer names than this are not names of anything that one wants to read.
const LONGEST: usize = 600;

/// A name or a message in one line.
pub fn line(text: &str) -> String {
    clean_line(text, LONGEST)
}

/// A difference, line by line, with its tabs.
pub fn lines(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(character),
            '\0'..='\u{1f}' => shown.push(char::from_u32(0x2400 + u32::from(character)).unwrap_or('\u{fffd}')),
            '\u{7f}' => shown.push('\u{2421}'),
            _ if character.is_control() || turns(character) => {
                shown.push_str(&format!("<U+{:04X}>", u32::from(character)));
            }
            _ => shown.push(character),
        }
    }
    shown
}

/// Those that turn the writing around, so that a line reads as another.
fn turns(character: char) -> bool {
    matches!(character, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::{line, lines};

    #[test]
    fn nothing_reaches_the_terminal_that_is_not_to_be_read() {
        let table = [
            ("-a\tb\n+c\n", "-a\tb\n+c\n"),
            ("+\u{1b}[2Jx\r\n", "+\u{241b}[2Jx\u{240d}\n"),
            ("\u{7f}\u{9b}2J", "\u{2421}<U+009B>2J"),
            ("a\u{202e}b", "a<U+202E>b"),
        ];
        for (text, expected) in table {
            assert_eq!(lines(text), expected, "{text:?}");
        }
        assert_eq!(line("agents/\u{1b}]0;x\u{7}.md"), "agents/\u{fffd}]0;x\u{fffd}.md");
    }
}
