//! `{env:NAME}` and `{file:path}` in the text of a configuration, as OpenCode replaces them before it parses.
//!
//! Invariant: no secret gets into the text, unless the caller asks for the values themselves. The content of a file,
//! and the value of a variable that may be a secret, are replaced by a mark; values that identifiers and addresses are
//! made of are taken as they are.

use super::{super::secrets::is_hidden, Places, credential::digest};
use shuntyard_host::text_file::{MOST_CONFIG_BYTES, read_text};
use std::{
    borrow::Cow,
    collections::BTreeMap,
    path::{Path, PathBuf},
};

/// Files that one text may name. Each of them is read once.
const MOST_FILES: usize = 256;

/// What a value that is not shown is replaced by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// That there is one.
    Present,
    /// What changes with it. It is meant for another hash and never to be kept.
    Digest,
    /// Nothing: the value itself is wanted, by one who makes a request of it.
    Nothing,
}

/// A text with its references replaced.
pub(super) struct Substituted {
    pub(super) text: String,
    /// How many files it names that cannot be read.
    pub(super) missing_files: usize,
}

/// `base` is the directory that relative paths start from.
pub(super) fn substitute(text: &str, base: &Path, places: &Places, mark: Mark) -> Substituted {
    let text = replaced(text, "{env:", |name, _| {
        let value = places.variable(name).unwrap_or_default();
        Some(if is_hidden(name, value) { mark.of(value) } else { value.into() })
    });
    let mut files: BTreeMap<PathBuf, Option<Cow<'static, str>>> = BTreeMap::new();
    let mut missing_files = 0;
    let text = replaced(&text, "{file:", |path, line| {
        if line == Line::Comment {
            return None;
        }
        let path = match path.strip_prefix("~/") {
            Some(rest) => places.home.join(rest),
            None => base.join(path),
        };
        let content = match files.get(&path) {
            Some(content) => content.clone(),
            None if files.len() < MOST_FILES => {
                let content = read_text(&path, MOST_CONFIG_BYTES).ok().map(|text| mark.of_file(text.trim()));
                files.entry(path).or_insert(content).clone()
            }
            None => None,
        };
        missing_files += usize::from(content.is_none());
        Some(content.unwrap_or_default())
    });
    Substituted { text, missing_files }
}

impl Mark {
    /// Nothing stays nothing, and so does OpenCode's word for a key that is none.
    fn of(self, value: &str) -> Cow<'static, str> {
        match (value, self) {
            ("", _) => "".into(),
            ("public", _) => "public".into(),
            (_, Self::Present) => "present".into(),
            (value, Self::Digest) => digest("a value of a configuration", &[value]).into(),
            (value, Self::Nothing) => value.to_owned().into(),
        }
    }

    /// OpenCode takes the content of a file for the inside of a JSON string, but that of a variable as it is.
    fn of_file(self, content: &str) -> Cow<'static, str> {
        let text = self.of(content);
        let quoted = serde_json::Value::from(text.as_ref()).to_string();
        quoted[1..quoted.len() - 1].to_owned().into()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Line {
    Comment,
    Other,
}

/// Replaces each `{opening…}`. The replacement sees what is inside and the line that it is in, and may leave the
/// reference as it is.
fn replaced<'a>(text: &str, opening: &str, mut replacement: impl FnMut(&str, Line) -> Option<Cow<'a, str>>) -> String {
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    let mut line = line_at(text, 0);
    let mut looked_at = 0;
    while let Some(found) = text[copied..].find(opening) {
        let start = copied + found;
        let inside = start + opening.len();
        let Some(length) = text[inside..].find('}') else { break };
        let end = inside + length + 1;
        // Each line is looked at once: a text can be one long line of references.
        if let Some(newline) = text[looked_at..start].rfind('\n') {
            line = line_at(text, looked_at + newline + 1);
        }
        looked_at = start;
        out.push_str(&text[copied..start]);
        match replacement(&text[inside..end - 1], line) {
            Some(value) if length > 0 => out.push_str(&value),
            _ => out.push_str(&text[start..end]),
        }
        copied = end;
    }
    out.push_str(&text[copied..]);
    out
}

fn line_at(text: &str, start: usize) -> Line {
    if text[start..].trim_start().starts_with("//") { Line::Comment } else { Line::Other }
}
