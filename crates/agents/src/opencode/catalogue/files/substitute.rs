//! `{env:NAME}` and `{file:path}` in the text of a configuration, as OpenCode replaces them before it
//! parses. A file's content is never taken: it may be a key, and that it says something is all we need.

use super::Places;
use std::{
    io::{BufReader, Read},
    path::Path,
};

/// Stands for the content of a file.
const PRESENT: &str = "present";

/// A text with its references replaced.
pub(super) struct Substituted {
    pub(super) text: String,
    /// How many files it names that cannot be read.
    pub(super) missing_files: usize,
}

/// `base` is the directory that relative paths start from.
pub(super) fn substitute(text: &str, base: &Path, places: &Places) -> Substituted {
    let text = replaced(text, "{env:", |name, _| Some(places.variable(name).unwrap_or_default()));
    let mut missing_files = 0;
    let text = replaced(&text, "{file:", |path, line| {
        if line.trim_start().starts_with("//") {
            return None;
        }
        let path = match path.strip_prefix("~/") {
            Some(rest) => places.home.join(rest),
            None => base.join(path),
        };
        Some(match says_something(&path) {
            Some(true) => PRESENT,
            Some(false) => "",
            None => {
                missing_files += 1;
                ""
            }
        })
    });
    Substituted { text, missing_files }
}

/// Replaces each `{opening…}`. The replacement sees what is inside and the line before it, and may leave
/// the reference as it is.
fn replaced<'a>(text: &str, opening: &str, mut replacement: impl FnMut(&str, &str) -> Option<&'a str>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    while let Some(found) = text[copied..].find(opening) {
        let start = copied + found;
        let inside = start + opening.len();
        let Some(length) = text[inside..].find('}') else { break };
        let end = inside + length + 1;
        let line = text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        out.push_str(&text[copied..start]);
        match replacement(&text[inside..end - 1], &text[line..start]) {
            Some(value) if length > 0 => out.push_str(value),
            _ => out.push_str(&text[start..end]),
        }
        copied = end;
    }
    out.push_str(&text[copied..]);
    out
}

/// Whether there is more than white space in a file. `None` when it cannot be read.
fn says_something(path: &Path) -> Option<bool> {
    let file = std::fs::File::open(path).ok()?;
    for byte in BufReader::new(file).bytes() {
        if !byte.ok()?.is_ascii_whitespace() {
            return Some(true);
        }
    }
    Some(false)
}
