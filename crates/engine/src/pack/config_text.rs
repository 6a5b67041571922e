//! Enters a server under `mcp` in a configuration with comments, and takes it out again. All else keeps its bytes.

use jsonc_parser::{
    CollectOptions, CommentCollectionStrategy, ParseOptions, ast::Value as Ast, common::Range, parse_to_ast,
};
use serde_json::Value;
use switchyard_core::pack::{
    cut::{self, is_comment},
    jsonc::{JsoncError, property, set_value, value_at, without_mark},
};

const SECTION: &str = "mcp";
const NAME: &str = "switchyard";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigTextError {
    #[error("it is not text in UTF-8")]
    NotText,
    #[error(transparent)]
    Text(#[from] JsoncError),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Registered {
    pub text: String,
    /// Whether there was no section yet.
    pub made_section: bool,
}

/// What is entered under our name.
pub fn entry(text: &str) -> Result<Option<Value>, ConfigTextError> {
    Ok(value_at(text, &[SECTION, NAME])?)
}

/// Adds the entry, or gives the one that is there another value.
pub fn register(text: &str, value: &Value) -> Result<Registered, ConfigTextError> {
    let made_section = value_at(text, &[SECTION])?.is_none();
    let text = set_value(text, &[SECTION, NAME], value)?;
    Ok(Registered { text, made_section })
}

/// Takes the entry out, and the section too if it was made for it and has nothing else in it.
pub fn unregister(text: &str, made_section: bool) -> Result<String, ConfigTextError> {
    let (mark, bare) = without_mark(text);
    let collect = CollectOptions { comments: CommentCollectionStrategy::AsTokens, tokens: true };
    let parsed = parse_to_ast(bare, &collect, &ParseOptions::default())
        .map_err(|error| JsoncError::NotJson(error.to_string()))?;
    let tokens = parsed.tokens.unwrap_or_default();
    let Some(Ast::Object(root)) = parsed.value else { return Err(JsoncError::NotObject("the whole".into()).into()) };
    let Some(whole) = property(&root, SECTION)? else { return Ok(text.to_owned()) };
    let Ast::Object(section) = &whole.value else {
        return Err(JsoncError::NotObject(format!("{SECTION:?}")).into());
    };
    let Some(entry) = property(section, NAME)? else { return Ok(text.to_owned()) };
    let within = |inner: Range, outer: Range| outer.start <= inner.start && inner.end <= outer.end;
    let said = tokens
        .iter()
        .any(|token| is_comment(token) && within(token.range, section.range) && !within(token.range, entry.range));
    let goes = if made_section && section.properties.len() == 1 && !said { whole.range } else { entry.range };
    Ok(format!("{mark}{}", cut::without(bare, goes, &tokens)))
}
