//! Enters a server under `mcp` in a configuration with comments, and takes it out again. All else keeps its bytes.

use super::cut::{self, is_comment};
use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions,
    ast::Value as Ast,
    common::Range,
    cst::{CstInputValue, CstObject, CstObjectProp, CstRootNode},
    parse_to_ast, parse_to_serde_value,
};
use serde_json::Value;

const SECTION: &str = "mcp";
const NAME: &str = "switchyard";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigTextError {
    #[error("it is not text in UTF-8")]
    NotText,
    #[error("it is no JSON: {0}")]
    NotJson(String),
    #[error("it is not an object")]
    NotObject,
    #[error("{0:?} in it is not an object")]
    SectionNotObject(&'static str),
    #[error("{0:?} is in it twice")]
    Twice(&'static str),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    pub text: String,
    /// Whether there was no section yet.
    pub made_section: bool,
}

/// What is entered under our name.
pub fn entry(text: &str) -> Result<Option<Value>, ConfigTextError> {
    let value: Value = parse_to_serde_value(without_mark(text).1, &ParseOptions::default())
        .map_err(|error| ConfigTextError::NotJson(error.to_string()))?;
    Ok(value.get(SECTION).and_then(|section| section.get(NAME)).cloned())
}

/// Adds the entry, or gives the one that is there another value.
pub fn register(text: &str, value: &Value) -> Result<Registered, ConfigTextError> {
    let (mark, text) = without_mark(text);
    let root = parse(text)?;
    let object = match root.value() {
        None => root.object_value_or_set(),
        Some(_) => root.object_value().ok_or(ConfigTextError::NotObject)?,
    };
    let (section, made_section) = match section(&object)? {
        Some(section) => (section, false),
        None => (object.object_value_or_set(SECTION), true),
    };
    only_once(&section, NAME)?;
    match section.get(NAME) {
        Some(found) => found.set_value(input(value)),
        None => drop(section.append(NAME, input(value))),
    }
    Ok(Registered { text: format!("{mark}{root}"), made_section })
}

/// Takes the entry out, and the section too if it was made for it and has nothing else in it.
pub fn unregister(text: &str, made_section: bool) -> Result<String, ConfigTextError> {
    let (mark, text) = without_mark(text);
    let object = parse(text)?.object_value().ok_or(ConfigTextError::NotObject)?;
    let Some(found) = section(&object)? else { return Ok(format!("{mark}{text}")) };
    only_once(&found, NAME)?;
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed = parse_to_ast(text, &collect, &ParseOptions::default())
        .map_err(|error| ConfigTextError::NotJson(error.to_string()))?;
    let tokens = parsed.tokens.unwrap_or_default();
    let Some(Ast::Object(root)) = parsed.value else { return Err(ConfigTextError::NotObject) };
    let Some(whole) = root.get(SECTION) else { return Ok(format!("{mark}{text}")) };
    let Ast::Object(section) = &whole.value else { return Err(ConfigTextError::SectionNotObject(SECTION)) };
    let Some(entry) = section.get(NAME) else { return Ok(format!("{mark}{text}")) };
    let within = |inner: Range, outer: Range| outer.start <= inner.start && inner.end <= outer.end;
    let said = tokens
        .iter()
        .any(|token| is_comment(token) && within(token.range, section.range) && !within(token.range, entry.range));
    let goes = if made_section && section.properties.len() == 1 && !said { whole.range } else { entry.range };
    Ok(format!("{mark}{}", cut::without(text, goes, &tokens)))
}

fn parse(text: &str) -> Result<CstRootNode, ConfigTextError> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| ConfigTextError::NotJson(error.to_string()))
}

fn section(object: &CstObject) -> Result<Option<CstObject>, ConfigTextError> {
    only_once(object, SECTION)?;
    match object.get(SECTION) {
        None => Ok(None),
        Some(property) => property.object_value().map(Some).ok_or(ConfigTextError::SectionNotObject(SECTION)),
    }
}

/// OpenCode takes the last of two, an edit would meet the first.
fn only_once(object: &CstObject, name: &'static str) -> Result<(), ConfigTextError> {
    let named = |property: &CstObjectProp| property.decoded_name().as_deref() == Some(name);
    match object.properties().iter().filter(|property| named(property)).count() {
        0 | 1 => Ok(()),
        _ => Err(ConfigTextError::Twice(name)),
    }
}

/// Some editors begin a file with a mark that is no part of its text.
fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

fn input(value: &Value) -> CstInputValue {
    match value {
        Value::Null => CstInputValue::Null,
        Value::Bool(truth) => CstInputValue::Bool(*truth),
        Value::Number(number) => CstInputValue::Number(number.to_string()),
        Value::String(text) => CstInputValue::String(text.clone()),
        Value::Array(items) => CstInputValue::Array(items.iter().map(input).collect()),
        Value::Object(fields) => {
            CstInputValue::Object(fields.iter().map(|(name, value)| (name.clone(), input(value))).collect())
        }
    }
}
