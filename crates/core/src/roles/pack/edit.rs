//! Changes one value in the head of an agent file and keeps every other byte.

use super::{
    frontmatter::{Frontmatter, FrontmatterError, yaml_range},
    yaml::Value,
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EditError {
    #[error(transparent)]
    Unreadable(#[from] FrontmatterError),
    #[error("{key:?} on line {line} is not a text on one line")]
    NotOneLine { key: String, line: usize },
    #[error("a value must be one line without control characters")]
    Unwritable,
}

/// Sets a key of the frontmatter to a text. A key that is not there is added as the last. What comes out can be read:
/// OpenCode would give an agent with an unreadable head all of its own defaults.
pub fn set_value(text: &str, key: &str, value: &str) -> Result<String, EditError> {
    let changed = with_value(text, key, value)?;
    Frontmatter::parse(&changed)?;
    Ok(changed)
}

fn with_value(text: &str, key: &str, value: &str) -> Result<String, EditError> {
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
            let span = &entry.value.span;
            let (start, end) = (range.start + span.start, range.start + span.end);
            if text[start..end].contains('\n') || text[start..end].starts_with(['|', '>']) {
                return Err(whole());
            }
            if span.is_empty() {
                let colon = text[end..].find(':').ok_or_else(whole)?;
                let (before, after) = text.split_at(end + colon + 1);
                return Ok(format!("{before} {written}{after}"));
            }
            Ok(format!("{}{written}{}", &text[..start], &text[end..]))
        }
    }
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
