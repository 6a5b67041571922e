//! The part of YAML that agent files use, read strictly: block and one-line flow maps and lists, plain, quoted
//! and block scalars, comments. Every entry keeps its line, and entries keep their order.
//!
//! Invariant: what is read here means the same to OpenCode. What OpenCode's reader refuses is refused here, and
//! so is what is too unusual to be sure about.

mod block;
mod scalar;

pub(super) use scalar::{closing_quote, plain_end, split_key};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// From 1, in the whole file.
    pub line: usize,
    pub value: Value,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Value {
    Null,
    Plain(String),
    Quoted(String),
    List(Vec<Node>),
    Map(Vec<Entry>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    pub key: String,
    pub line: usize,
    pub value: Node,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct YamlError {
    pub line: usize,
    pub reason: String,
}

/// Reads a document that begins on line `first` of its file.
pub fn parse(text: &str, first: usize) -> Result<Node, YamlError> {
    block::parse(text, first)
}

impl Node {
    /// The text of a scalar that YAML takes for a string.
    #[must_use]
    pub fn text(&self) -> Option<&str> {
        match &self.value {
            Value::Quoted(text) => Some(text),
            Value::Plain(text) if scalar::is_string(text) => Some(text),
            Value::Plain(_) | Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    /// `true` and `false` as YAML has them.
    #[must_use]
    pub fn truth(&self) -> Option<bool> {
        match &self.value {
            Value::Plain(text) if matches!(text.as_str(), "true" | "True" | "TRUE") => Some(true),
            Value::Plain(text) if matches!(text.as_str(), "false" | "False" | "FALSE") => Some(false),
            Value::Plain(_) | Value::Quoted(_) | Value::Null | Value::List(_) | Value::Map(_) => None,
        }
    }

    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        match &self.value {
            Value::Map(entries) => entries,
            Value::Null | Value::Plain(_) | Value::Quoted(_) | Value::List(_) => &[],
        }
    }

    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Entry> {
        self.entries().iter().find(|entry| entry.key == key)
    }
}
