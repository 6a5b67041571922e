//! The head of an agent file: the YAML between two lines of dashes.
//!
//! OpenCode gives an agent whose head it cannot read all of its own defaults, which allow nearly everything, so
//! an unreadable head is an error and never an empty one.

use super::yaml::{Entry, Node, Value, YamlError, parse as parse_yaml};
use std::ops::Range;

/// What OpenCode 1.18 knows. All else it sends to the model's provider with every request.
pub const KNOWN_KEYS: [&str; 16] = [
    "name",
    "model",
    "variant",
    "prompt",
    "description",
    "temperature",
    "top_p",
    "mode",
    "hidden",
    "color",
    "steps",
    "maxSteps",
    "options",
    "permission",
    "disable",
    "tools",
];

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frontmatter {
    root: Node,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FrontmatterError {
    #[error("the file does not begin with a line of three dashes")]
    Missing,
    #[error("the frontmatter is not closed by a line of three dashes")]
    Unclosed,
    #[error("the frontmatter is written in {0:?}, not in YAML")]
    Language(String),
    #[error("the frontmatter is not a map of keys")]
    NotKeys,
    #[error(transparent)]
    Yaml(#[from] YamlError),
}

impl FrontmatterError {
    /// The line to look at, from 1.
    #[must_use]
    pub fn line(&self) -> usize {
        match self {
            Self::Yaml(error) => error.line,
            Self::Missing | Self::Unclosed | Self::Language(_) | Self::NotKeys => 1,
        }
    }
}

/// Where the YAML of an agent file is, in bytes, with the ends of its lines. It begins on line 2.
pub(super) fn yaml_range(text: &str) -> Result<Range<usize>, FrontmatterError> {
    let bare = text.strip_prefix('\u{feff}').unwrap_or(text);
    let Some(rest) = bare.strip_prefix("---").filter(|rest| !rest.starts_with('-')) else {
        return Err(FrontmatterError::Missing);
    };
    let first = rest.find('\n').ok_or(FrontmatterError::Unclosed)?;
    let language = rest[..first].trim();
    if !matches!(language, "" | "yaml") {
        return Err(FrontmatterError::Language(language.into()));
    }
    // The newline before the closing dashes may be the one that ends the opening line.
    let end = rest[first..].find("\n---").ok_or(FrontmatterError::Unclosed)?;
    let start = text.len() - rest.len() + first + 1;
    Ok(start..start + end)
}

impl Frontmatter {
    pub fn parse(text: &str) -> Result<Self, FrontmatterError> {
        let root = parse_yaml(&text[yaml_range(text)?], 2)?;
        match root.value {
            Value::Map(_) => Ok(Self { root }),
            Value::Null => Ok(Self { root: Node { line: 1, value: Value::Map(Vec::new()), span: 0..0 } }),
            Value::Plain(_) | Value::Quoted(_) | Value::List(_) => Err(FrontmatterError::NotKeys),
        }
    }

    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        self.root.entries()
    }

    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.root.get(key)
    }

    #[must_use]
    pub fn text(&self, key: &str) -> Option<&str> {
        self.get(key)?.value.text()
    }
}
