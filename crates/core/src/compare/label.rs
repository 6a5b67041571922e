//! The neutral name of an answer: one letter, which does not reveal its author.

use serde::{Deserialize, Serialize};
use std::fmt;

/// `A` to `Z`, by position.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Label(u8);

impl Label {
    /// How many answers can have different labels.
    pub const MOST: usize = 26;

    #[must_use]
    pub fn at(position: usize) -> Option<Self> {
        u8::try_from(position).ok().filter(|position| usize::from(*position) < Self::MOST).map(Self)
    }

    #[must_use]
    pub fn position(self) -> usize {
        usize::from(self.0)
    }

    /// The labels of so many answers, at most all there are.
    pub fn first(count: usize) -> impl Iterator<Item = Self> {
        (0..count).map_while(Self::at)
    }

    /// Exactly one capital letter: a guess at what was meant could name another answer.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        match text.as_bytes() {
            [letter @ b'A'..=b'Z'] => Some(Self(letter - b'A')),
            _ => None,
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", char::from(b'A' + self.0))
    }
}

impl From<Label> for String {
    fn from(label: Label) -> Self {
        label.to_string()
    }
}

impl TryFrom<String> for Label {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::parse(&text).ok_or_else(|| "a label is one capital letter".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_one_capital_letter() {
        assert_eq!(Label::first(3).map(|label| label.to_string()).collect::<String>(), "ABC");
        assert_eq!(Label::first(1000).count(), Label::MOST);
        assert_eq!(Label::parse("Z").map(Label::position), Some(25));
        for text in ["", "a", "AB", " A", "Ä", "1", "["] {
            assert_eq!(Label::parse(text), None, "{text}");
        }
        assert_eq!(Label::at(26), None);
        assert_eq!(Label::at(256), None, "no wrapping around");
        assert_eq!(serde_json::to_string(&Label::at(1)).unwrap(), r#""B""#);
        assert!(serde_json::from_str::<Label>(r#""b""#).is_err());
    }
}
