//! One setting changed in the text of a configuration file: comments, order and formatting of everything else stay.
//!
//! Invariant: a text that is returned passes the checks that every command makes.

use super::{
    ConfigError, Layer, Layered, Origin,
    literal::{example_at, literal},
};
use toml_edit::{DocumentMut, Item, Key, Table, TableLike, Value};

/// What a file becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The setting, as its path is written.
    pub key: String,
    /// The earlier value in the file, as TOML; `None` when the file did not set it.
    pub before: Option<String>,
    /// The value now, as TOML.
    pub after: String,
    pub text: String,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ChangeError {
    #[error("`{0}` is not the path of a setting: write it like dispatch.text_timeout or tiers.\"my tier\"")]
    BadKey(String),
    #[error("`{0}` is a section; name one of the settings in it")]
    Section(String),
    #[error("{origin}: `{key}` is a value and not a section, so nothing can be set in it")]
    NotSection { origin: String, key: String },
    #[error(transparent)]
    Refused(#[from] ConfigError),
}

/// Sets `key` to `value` in the `text` of the user's own file, which `origin` names in messages.
pub fn set(origin: &str, text: &str, key: &str, value: &str) -> Result<Change, ChangeError> {
    let path = Key::parse(key).map_err(|_| ChangeError::BadKey(key.to_owned()))?;
    let names: Vec<&str> = path.iter().map(Key::get).collect();
    let wanted = literal(example_at(&names).as_ref(), value);
    // On its own first: an unknown setting or a bad value is the argument's fault, not the file's.
    let assignment = format!("{key} = {wanted}\n");
    check("config set", &assignment).map_err(without_line)?;
    let wanted: Value = wanted.parse().map_err(|_| ChangeError::BadKey(key.to_owned()))?;
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| ConfigError::Syntax {
        origin: origin.to_owned(),
        problem: error.to_string().trim_end().to_owned(),
    })?;
    let is_new = document.is_empty();
    let after = wanted.to_string();
    let before = replace(&mut document, origin, &path, wanted)?;
    let text = if before.as_ref() == Some(&after) {
        text.to_owned()
    } else if is_new {
        // What such a text holds are comments, and they belong above the settings.
        let gap = if text.is_empty() || text.ends_with("\n\n") { "" } else { "\n" };
        let end = if text.is_empty() || text.ends_with('\n') { "" } else { "\n" };
        document.set_trailing("");
        format!("{text}{end}{gap}{document}")
    } else {
        with_line_endings_of(text, document.to_string())
    };
    check(origin, &text)?;
    Ok(Change { key: key.to_owned(), before, after, text })
}

fn check(origin: &str, text: &str) -> Result<(), ConfigError> {
    let layer = Layer { origin: Origin::File(origin.to_owned()), text: text.to_owned() };
    Layered::merge(&[layer]).map(drop)
}

/// The one line of an argument needs no number.
fn without_line(error: ConfigError) -> ConfigError {
    match error {
        ConfigError::UnknownKey { origin, key, suggestion, .. } => {
            ConfigError::UnknownKey { origin, line: String::new(), key, suggestion }
        }
        ConfigError::Syntax { .. } | ConfigError::NotForRepositories { .. } | ConfigError::BadValue { .. } => error,
    }
}

/// Puts the value in its place, with the comment behind the old one; returns the old value.
fn replace(
    document: &mut DocumentMut,
    origin: &str,
    path: &[Key],
    mut value: Value,
) -> Result<Option<String>, ChangeError> {
    let written = |until: usize| path.iter().take(until).map(Key::to_string).collect::<Vec<_>>().join(".");
    let Some((last, sections)) = path.split_last() else { return Err(ChangeError::BadKey(String::new())) };
    let mut table: &mut dyn TableLike = document.as_table_mut();
    for (depth, section) in sections.iter().enumerate() {
        let is_innermost = depth + 1 == sections.len();
        let entry = table.entry_format(section).or_insert_with(|| {
            let mut made = Table::new();
            made.set_implicit(!is_innermost);
            Item::Table(made)
        });
        let key = || written(depth + 1);
        table = entry
            .as_table_like_mut()
            .ok_or_else(|| ChangeError::NotSection { origin: origin.to_owned(), key: key() })?;
    }
    match table.get_mut(last.get()) {
        Some(Item::Value(old)) => {
            let mut bare = old.clone();
            bare.decor_mut().clear();
            *value.decor_mut() = old.decor().clone();
            *old = value;
            Ok(Some(bare.to_string()))
        }
        Some(Item::Table(_) | Item::ArrayOfTables(_)) => Err(ChangeError::Section(written(path.len()))),
        Some(Item::None) | None => {
            table.entry_format(last).or_insert(Item::Value(value));
            Ok(None)
        }
    }
}

fn with_line_endings_of(model: &str, text: String) -> String {
    if model.contains("\r\n") { text.replace("\r\n", "\n").replace('\n', "\r\n") } else { text }
}

#[cfg(test)]
mod tests;
