//! What tasks and units are called: `007-add-export` and, within it, `01-parser`.
//!
//! Invariant: a name made here is one plain part of a path on every system, and reads back as itself.

use std::{fmt, str::FromStr};

/// Small letters, digits and single hyphens, beginning with a letter.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Slug(String);

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{}` is no name for a task or a unit", crate::values::clean_line(.0, 60))]
pub struct BadSlug(pub String);

impl BadSlug {
    pub const RULE: &'static str =
        "use small letters, digits and single hyphens, beginning with a letter, at most 48 of them";

    /// The rule, with a name that would do.
    #[must_use]
    pub fn hint(&self) -> String {
        match suggested(&self.0) {
            Some(slug) => format!("{}: for example `{slug}`", Self::RULE),
            None => format!("{}: for example `add-export`", Self::RULE),
        }
    }
}

const LONGEST: usize = 48;

impl Slug {
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Slug {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Slug {
    type Err = BadSlug;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let plain = |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
        // With a digit in front, `007-2-fix` and a task called `2-fix` could be meant by the same word.
        let good = text.starts_with(|letter: char| letter.is_ascii_lowercase())
            && text.len() <= LONGEST
            && text.chars().all(plain)
            && !text.contains("--")
            && !text.ends_with('-');
        if good { Ok(Self(text.to_owned())) } else { Err(BadSlug(text.to_owned())) }
    }
}

/// The nearest valid name to a written text, if a name can be made of it.
#[must_use]
pub fn suggested(text: &str) -> Option<Slug> {
    let lower = text.to_lowercase();
    let words = lower.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let joined = words.collect::<Vec<_>>().join("-");
    let lettered = joined.trim_start_matches(|letter: char| !letter.is_ascii_lowercase());
    let short: String = lettered.chars().take(LONGEST).collect();
    short.trim_end_matches('-').parse().ok()
}

/// `<NNN>-<id>`: three digits, or more when they are used up.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TaskName {
    pub number: u32,
    pub id: Slug,
}

impl fmt::Display for TaskName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:03}-{}", self.number, self.id)
    }
}

impl TaskName {
    /// Only what is written just as it would be written here.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (number, id) = numbered(name)?;
        Some(Self { number, id }).filter(|task| task.number > 0 && task.to_string() == name)
    }
}

/// `<NN>-<slug>`: a unit of a task.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitName {
    pub number: u32,
    pub slug: Slug,
}

impl fmt::Display for UnitName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}-{}", self.number, self.slug)
    }
}

impl UnitName {
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let (number, slug) = numbered(name)?;
        Some(Self { number, slug }).filter(|unit| unit.number > 0 && unit.to_string() == name)
    }
}

fn numbered(name: &str) -> Option<(u32, Slug)> {
    let (digits, rest) = name.split_once('-')?;
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    Some((digits.parse().ok().filter(|_| is_number)?, rest.parse().ok()?))
}

/// The number that an entry of the directory of tasks takes up, however it was written: `007-x`, `7_X`, `.007`.
#[must_use]
pub fn number_of(entry: &str) -> Option<u32> {
    let entry = entry.strip_prefix('.').unwrap_or(entry);
    let length = entry.bytes().take_while(u8::is_ascii_digit).count();
    let ends = !entry[length..].starts_with(|letter: char| letter.is_alphanumeric());
    entry[..length].parse().ok().filter(|_| ends)
}

/// One more than the highest; numbers that were given up are not used again. There is none beyond the last.
#[must_use]
pub fn next_number<'n>(entries: impl IntoIterator<Item = &'n str>) -> Option<u32> {
    entries.into_iter().filter_map(number_of).max().unwrap_or(0).checked_add(1)
}
