//! Changes one value in JSON with comments. Everything that is not that value keeps its bytes: comments, order, unknown
//! keys, layout.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstObject, CstRootNode},
    parse_to_serde_value,
};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsoncError {
    #[error("it is no JSON: {0}")]
    NotJson(String),
    #[error("{0} is not an object")]
    NotObject(String),
    /// A reader takes the last of two, an edit would meet the first.
    #[error("{0:?} is in it twice")]
    Twice(String),
    #[error("there is no key to change")]
    NoPath,
}

/// What is at `path`, if it is there.
pub fn value_at(text: &str, path: &[&str]) -> Result<Option<Value>, JsoncError> {
    let (_, text) = without_mark(text);
    let whole: Option<Value> = parse_to_serde_value(text, &ParseOptions::default())
        .map_err(|error| JsoncError::NotJson(error.to_string()))?;
    Ok(whole.and_then(|whole| path.iter().try_fold(&whole, |value, key| value.get(key)).cloned()))
}

/// Puts `value` at `path`; objects on the way are made, and what is new comes last in its object.
pub fn set_value(text: &str, path: &[&str], value: &Value) -> Result<String, JsoncError> {
    let (mark, bare) = without_mark(text);
    let root = parse(bare)?;
    let mut object = match root.value() {
        None => root.object_value_or_set(),
        Some(_) => root.object_value().ok_or_else(|| JsoncError::NotObject("the whole".into()))?,
    };
    let (last, way) = path.split_last().ok_or(JsoncError::NoPath)?;
    for (place, key) in way.iter().enumerate() {
        match within(&object, key)? {
            Some(inner) => object = inner,
            None => {
                let deepest = CstInputValue::Object(vec![((*last).to_owned(), input(value))]);
                let nested = way[place + 1..].iter().rev().fold(deepest, |inner, key| {
                    CstInputValue::Object(vec![((*key).to_owned(), inner)])
                });
                object.append(key, nested);
                return Ok(format!("{mark}{root}"));
            }
        }
    }
    only_once(&object, last)?;
    match object.get(last) {
        // What is as it should be may be written in another way, and stays so.
        Some(_) if value_at(text, path)?.as_ref() == Some(value) => return Ok(text.to_owned()),
        Some(found) => found.set_value(input(value)),
        None => drop(object.append(last, input(value))),
    }
    Ok(format!("{mark}{root}"))
}

/// Takes what is at `path` away, if it is there. The object that it was in stays, also when it is empty.
pub fn remove_value(text: &str, path: &[&str]) -> Result<String, JsoncError> {
    let (mark, bare) = without_mark(text);
    let root = parse(bare)?;
    let (last, way) = path.split_last().ok_or(JsoncError::NoPath)?;
    let Some(mut object) = root.object_value() else { return Ok(text.to_owned()) };
    for key in way {
        match within(&object, key)? {
            Some(inner) => object = inner,
            None => return Ok(text.to_owned()),
        }
    }
    only_once(&object, last)?;
    match object.get(last) {
        Some(found) => found.remove(),
        None => return Ok(text.to_owned()),
    }
    Ok(format!("{mark}{root}"))
}

fn parse(text: &str) -> Result<CstRootNode, JsoncError> {
    CstRootNode::parse(text, &ParseOptions::default()).map_err(|error| JsoncError::NotJson(error.to_string()))
}

/// The object at a key.
fn within(object: &CstObject, key: &str) -> Result<Option<CstObject>, JsoncError> {
    only_once(object, key)?;
    match object.get(key) {
        None => Ok(None),
        Some(property) => property.object_value().map(Some).ok_or_else(|| JsoncError::NotObject(format!("{key:?}"))),
    }
}

fn only_once(object: &CstObject, key: &str) -> Result<(), JsoncError> {
    let properties = object.properties();
    match properties.iter().filter(|property| property.decoded_name().as_deref() == Some(key)).count() {
        0 | 1 => Ok(()),
        _ => Err(JsoncError::Twice(key.to_owned())),
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

#[cfg(test)]
#[path = "jsonc_tests.rs"]
mod tests;
