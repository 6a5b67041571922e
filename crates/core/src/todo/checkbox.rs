//! How a task line begins: indentation, a bullet and a box, as in `  - [ ] `.

use std::{fmt, ops::Range};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Checkbox {
    Open,
    Done,
    /// `[-]`: it will not be done, and nothing waits for it.
    Declined,
    /// A mark of another program; it is kept, and nothing is concluded from it.
    Unknown(char),
}

impl Checkbox {
    /// Whether what waits for the task may go on.
    #[must_use]
    pub fn releases(self) -> bool {
        match self {
            Self::Done | Self::Declined => true,
            Self::Open | Self::Unknown(_) => false,
        }
    }

    pub(super) fn of(mark: char) -> Self {
        match mark {
            ' ' => Self::Open,
            'x' | 'X' => Self::Done,
            '-' => Self::Declined,
            other => Self::Unknown(other),
        }
    }

    pub(super) fn mark(self) -> char {
        match self {
            Self::Open => ' ',
            Self::Done => 'x',
            Self::Declined => '-',
            Self::Unknown(mark) => mark,
        }
    }
}

impl fmt::Display for Checkbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.mark())
    }
}

/// A line's box, and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Opening {
    pub indent: usize,
    pub checkbox: Checkbox,
    /// The bytes between the brackets.
    pub mark: Range<usize>,
    /// Where the text starts.
    pub text: usize,
}

/// Reads the box at the start of a line.
pub(super) fn opening(line: &str) -> Option<Opening> {
    let bullet = line.find(|c: char| !matches!(c, ' ' | '\t'))?;
    let rest = line[bullet..].strip_prefix(['-', '*', '+'])?;
    let boxed = rest.trim_start_matches([' ', '\t']);
    let inside = boxed.strip_prefix('[').filter(|_| boxed.len() < rest.len())?;
    let mark = inside.chars().next().filter(|mark| *mark != ']')?;
    let after = inside[mark.len_utf8()..].strip_prefix(']')?;
    if !after.is_empty() && !after.starts_with(char::is_whitespace) {
        return None;
    }
    let start = line.len() - inside.len();
    Some(Opening {
        indent: indent(line),
        checkbox: Checkbox::of(mark),
        mark: start..start + mark.len_utf8(),
        text: line.len() - after.len(),
    })
}

/// The column at which a line's text starts; tabs go to the next multiple of four.
pub(super) fn indent(line: &str) -> usize {
    line.chars().take_while(|c| matches!(c, ' ' | '\t')).fold(0, |column, c| match c {
        '\t' => (column / 4 + 1) * 4,
        _ => column + 1,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_box_is_one_mark_behind_a_bullet_at_the_start() {
        let table = [
            ("- [ ] t1", Some((0, Checkbox::Open))),
            ("* [x] t1", Some((0, Checkbox::Done))),
            ("+ [X] t1", Some((0, Checkbox::Done))),
            ("  -   [-] t1", Some((2, Checkbox::Declined))),
            ("\t- [>] t1", Some((4, Checkbox::Unknown('>')))),
            (" \t-\t[✓]", Some((4, Checkbox::Unknown('✓')))),
            ("- [ ]", Some((0, Checkbox::Open))),
            ("- []", None),
            ("- []] t1", None),
            ("- [  ] t1", None),
            ("- [x](a) t1", None),
            ("-[ ] t1", None),
            ("> - [ ] t1", None),
            ("see - [ ] t1", None),
            ("1. [ ] t1", None),
            ("- [", None),
            ("", None),
        ];
        for (line, expected) in table {
            assert_eq!(opening(line).map(|read| (read.indent, read.checkbox)), expected, "{line}");
        }
    }
}
