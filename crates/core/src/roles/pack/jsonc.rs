//! Changes one value in JSON with comments. Everything that is not that value keeps its bytes: comments, order, unknown
//! keys, layout. What is new is only put in between.

use super::cut::{self, Reach, comma_after, trivia};
use jsonc_parser::{
    CollectOptions, ParseOptions,
    ast::{Object, ObjectProp, Value as Ast},
    common::Ranged,
    parse_to_ast, parse_to_serde_value,
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
    let whole: Option<Value> =
        parse_to_serde_value(text, &ParseOptions::default()).map_err(|error| JsoncError::NotJson(error.to_string()))?;
    Ok(whole.and_then(|whole| path.iter().try_fold(&whole, |value, key| value.get(key)).cloned()))
}

/// Puts `value` at `path`; objects on the way are made, and what is new comes last in its object.
pub fn set_value(text: &str, path: &[&str], value: &Value) -> Result<String, JsoncError> {
    let (mark, bare) = without_mark(text);
    let parsed = parse(bare)?;
    let (last, way) = path.split_last().ok_or(JsoncError::NoPath)?;
    let nested = |below: &[&str]| below.iter().rev().fold(value.clone(), |inner, key| keyed(key, inner));
    let mut object = match &parsed {
        None => {
            let whole = serde_json::to_string_pretty(&nested(path)).unwrap_or_default();
            return Ok(format!("{mark}{bare}{whole}\n"));
        }
        Some(Ast::Object(object)) => object,
        Some(_) => return Err(JsoncError::NotObject("the whole".into())),
    };
    for (place, key) in way.iter().enumerate() {
        match within(object, key)? {
            Some(inner) => object = inner,
            None => return Ok(format!("{mark}{}", added(bare, object, key, &nested(&path[place + 1..])))),
        }
    }
    let Some(found) = property(object, last)? else {
        return Ok(format!("{mark}{}", added(bare, object, last, value)));
    };
    // What is as it should be may be written in another way, and stays so.
    if value_at(bare, path)?.as_ref() == Some(value) {
        return Ok(text.to_owned());
    }
    let (before, after) = (&bare[..found.value.start()], &bare[found.value.end()..]);
    Ok(format!("{mark}{before}{value}{after}"))
}

/// Takes what is at `path` away, if it is there. The object that it was in stays, also when it is empty.
pub fn remove_value(text: &str, path: &[&str]) -> Result<String, JsoncError> {
    remove(text, path, |_, _| true)
}

/// Takes the object at `path` away if nothing is in it, no comment either.
pub fn remove_empty(text: &str, path: &[&str]) -> Result<String, JsoncError> {
    remove(text, path, |bare, found| match &found.value {
        Ast::Object(object) => bare[object.start() + 1..object.end() - 1].trim().is_empty(),
        _ => false,
    })
}

fn remove(text: &str, path: &[&str], goes: impl Fn(&str, &ObjectProp<'_>) -> bool) -> Result<String, JsoncError> {
    let (mark, bare) = without_mark(text);
    let parsed = parse(bare)?;
    let (last, way) = path.split_last().ok_or(JsoncError::NoPath)?;
    let Some(Ast::Object(whole)) = &parsed else { return Ok(text.to_owned()) };
    let mut object = whole;
    for key in way {
        match within(object, key)? {
            Some(inner) => object = inner,
            None => return Ok(text.to_owned()),
        }
    }
    match property(object, last)?.filter(|found| goes(bare, found)) {
        Some(found) => Ok(format!("{mark}{}", cut::without(bare, object, found))),
        None => Ok(text.to_owned()),
    }
}

fn parse(text: &str) -> Result<Option<Ast<'_>>, JsoncError> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default());
    parsed.map(|parsed| parsed.value).map_err(|error| JsoncError::NotJson(error.to_string()))
}

fn keyed(key: &str, value: Value) -> Value {
    Value::Object([(key.to_owned(), value)].into_iter().collect())
}

fn within<'o, 't>(object: &'o Object<'t>, key: &str) -> Result<Option<&'o Object<'t>>, JsoncError> {
    match property(object, key)?.map(|found| &found.value) {
        None => Ok(None),
        Some(Ast::Object(inner)) => Ok(Some(inner)),
        Some(_) => Err(JsoncError::NotObject(format!("{key:?}"))),
    }
}

/// The one property of this name.
fn property<'o, 't>(object: &'o Object<'t>, key: &str) -> Result<Option<&'o ObjectProp<'t>>, JsoncError> {
    let mut named = object.properties.iter().filter(|property| property.name.as_str() == key);
    let first = named.next();
    if named.next().is_some() { Err(JsoncError::Twice(key.to_owned())) } else { Ok(first) }
}

/// The text with one more property at the end of an object, laid out as the others are.
fn added(text: &str, object: &Object<'_>, key: &str, value: &Value) -> String {
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    let Some(last) = object.properties.last() else {
        let base = indent_at(text, object.start());
        let inner = format!("{base}{}", unit(text));
        let at = object.start() + 1 + said_until(&text[object.start() + 1..object.end() - 1]);
        let end = if text[at..object.end()].contains('\n') { String::new() } else { format!("{newline}{base}") };
        let shown = shown(key, value, &inner, unit(text), newline);
        return format!("{}{newline}{inner}{shown}{end}{}", &text[..at], &text[at..]);
    };
    let comma = comma_after(text, last.end());
    let before = object.properties.len().checked_sub(2).map_or(object.start() + 1, |one| object.properties[one].end());
    let (open, close) = if comma.is_some() { ("", ",") } else { (",", "") };
    let behind = comma.map_or(last.end(), |at| at + 1);
    if !text[before..last.start()].contains('\n') {
        let (head, tail) = text.split_at(behind);
        return format!("{head}{open} {}: {}{close}{tail}", quoted(key), in_line(value));
    }
    let indent = indent_at(text, last.start());
    let shown = shown(key, value, indent, unit(text), newline);
    let line_end = behind + same_line(&text[behind..]);
    let (head, between, tail) = (&text[..behind], &text[behind..line_end], &text[line_end..]);
    format!("{head}{open}{between}{newline}{indent}{shown}{close}{tail}")
}

/// A property as people lay one out: each property of an object in a line of its own, lists in one line.
fn shown(key: &str, value: &Value, indent: &str, unit: &str, newline: &str) -> String {
    let Value::Object(fields) = value else { return format!("{}: {}", quoted(key), in_line(value)) };
    if fields.is_empty() {
        return format!("{}: {{}}", quoted(key));
    }
    let inner = format!("{indent}{unit}");
    let lines = fields.iter().map(|(key, value)| format!("{inner}{}", shown(key, value, &inner, unit, newline)));
    let lines: Vec<String> = lines.collect();
    format!("{}: {{{newline}{}{newline}{indent}}}", quoted(key), lines.join(&format!(",{newline}")))
}

fn in_line(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(key, value)| format!("{}: {}", quoted(key), in_line(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(in_line).collect::<Vec<_>>().join(", ")),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.to_string(),
    }
}

fn quoted(key: &str) -> String {
    Value::from(key).to_string()
}

/// The white space that a line begins with.
fn indent_at(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let rest = &text[line..at];
    &rest[..rest.len() - rest.trim_start_matches([' ', '\t']).len()]
}

/// What this text indents with: what its first indented line begins with.
fn unit(text: &str) -> &str {
    let indent = text.lines().map(|line| &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]);
    indent
        .into_iter()
        .find(|indent| !indent.is_empty())
        .map_or("  ", |indent| if indent.starts_with('\t') { "\t" } else { indent })
}

/// How far comments reach that are on the line that goes on here.
fn same_line(text: &str) -> usize {
    let reach = trivia(text, Reach::Line);
    text[..reach].trim_end_matches([' ', '\t']).len()
}

/// How far the content of an empty object reaches.
fn said_until(inside: &str) -> usize {
    inside.trim_end().len()
}

/// Some editors begin a file with a mark that is no part of its text.
fn without_mark(text: &str) -> (&str, &str) {
    text.split_at(if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 })
}

#[cfg(test)]
#[path = "jsonc_tests.rs"]
mod tests;
