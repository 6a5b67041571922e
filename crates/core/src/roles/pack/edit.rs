//! Changes one value in the head of an agent file and keeps every other byte.

use super::{
    frontmatter::{Frontmatter, FrontmatterError, yaml_range},
    yaml::{Value, YamlError, closing_quote, plain_end, split_key},
};
use std::ops::Range;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    Unreadable(#[from] FrontmatterError),
    #[error("{key:?} on line {line} is not a text on one line")]
    NotOneLine { key: String, line: usize },
    #[error("a value must be one line without control characters")]
    Unwritable,
}

impl From<YamlError> for EditError {
    fn from(error: YamlError) -> Self {
        Self::Unreadable(error.into())
    }
}

/// Sets a key of the frontmatter to a text. A key that is not there is added as the last.
pub fn set_value(text: &str, key: &str, value: &str) -> Result<String, EditError> {
    if value.chars().chain(key.chars()).any(char::is_control) {
        return Err(EditError::Unwritable);
    }
    let front = Frontmatter::parse(text)?;
    let range = yaml_range(text)?;
    let written = written(value);
    match front.get(key) {
        None => {
            let newline = if text[..range.start].ends_with("\r\n") { "\r\n" } else { "\n" };
            let (before, after) = text.split_at(range.end);
            Ok(format!("{before}{}: {written}{newline}{after}", written_key(key)))
        }
        Some(entry) => {
            let whole = || EditError::NotOneLine { key: key.to_owned(), line: entry.line };
            match entry.value.value {
                Value::Plain(_) | Value::Quoted(_) | Value::Null => {}
                Value::List(_) | Value::Map(_) => return Err(whole()),
            }
            let line = line_range(text, entry.line).ok_or_else(whole)?;
            if goes_on(&text[line.end..range.end]) {
                return Err(whole());
            }
            let content = &text[line.clone()];
            let (_, at) = split_key(content, entry.line)?.ok_or_else(whole)?;
            let rest = &content[at..];
            if rest.starts_with(['|', '>']) {
                return Err(whole());
            }
            let quoted = if rest.starts_with(['"', '\'']) { closing_quote(rest) } else { None };
            let end = quoted.unwrap_or_else(|| plain_end(rest));
            let (before, after) = (&text[..line.start + at], &text[line.start + at + end..]);
            let space = if before.ends_with(':') { " " } else { "" };
            // A comment right behind an empty value needs its space.
            let gap = if end == 0 && after.starts_with('#') { " " } else { "" };
            Ok(format!("{before}{space}{written}{gap}{after}"))
        }
    }
}

/// Line `number` of the text without its end, in bytes.
fn line_range(text: &str, number: usize) -> Option<Range<usize>> {
    let line = text.split_inclusive('\n').nth(number.checked_sub(1)?)?;
    let start = line.as_ptr() as usize - text.as_ptr() as usize;
    Some(start..start + line.trim_end_matches(['\n', '\r']).len())
}

/// Whether the first line below that says anything belongs to the value above it.
fn goes_on(below: &str) -> bool {
    let says = |line: &&str| !line.trim().is_empty() && !line.trim_start().starts_with('#');
    below.lines().find(says).is_some_and(|line| line.starts_with([' ', '\t']))
}

/// As plain text where that is safe, else in double quotes.
fn written(value: &str) -> String {
    let safe = |letter: char| letter.is_alphanumeric() || "/._-@+() ,".contains(letter);
    let plain = value.chars().all(|letter| safe(letter) || letter == ':')
        && value.starts_with(|letter: char| letter.is_alphabetic())
        && !value.contains(": ")
        && !value.ends_with([':', ' '])
        && !matches!(value.to_lowercase().as_str(), "true" | "false" | "null" | "yes" | "no" | "on" | "off");
    if plain { value.to_owned() } else { format!("\"{}\"", value.replace('\\', "\\\\").replace('"', "\\\"")) }
}

fn written_key(key: &str) -> String {
    let plain = !key.is_empty() && key.chars().all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    if plain { key.to_owned() } else { format!("\"{}\"", key.replace('\\', "\\\\").replace('"', "\\\"")) }
}
