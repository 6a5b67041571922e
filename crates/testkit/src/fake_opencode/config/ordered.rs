//! JSON whose objects keep the order of their keys: of several permission rules the last that matches decides.

use jsonc_parser::{CollectOptions, ParseOptions, ast, errors::ParseError, parse_to_ast};
use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub(in super::super) enum Node {
    /// Anything but an object. Inside a list the order of keys has no meaning here.
    Plain(Value),
    Map(Vec<(String, Node)>),
}

impl Default for Node {
    fn default() -> Self {
        Self::Map(Vec::new())
    }
}

impl Node {
    /// Comments and trailing commas are allowed. An empty text is an empty object.
    pub fn parse(text: &str) -> Result<Self, ParseError> {
        let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())?;
        Ok(parsed.value.map_or_else(Self::default, |value| node(&value)))
    }

    pub fn text(text: &str) -> Self {
        Self::Plain(Value::from(text))
    }

    pub fn entries(&self) -> &[(String, Self)] {
        match self {
            Self::Map(entries) => entries,
            Self::Plain(_) => &[],
        }
    }

    pub fn get(&self, key: &str) -> Option<&Self> {
        self.entries().iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Plain(Value::String(text)) => Some(text),
            Self::Plain(_) | Self::Map(_) => None,
        }
    }

    pub fn string(&self, key: &str) -> Option<&str> {
        self.get(key)?.as_str()
    }

    /// Sets a key as an object does: one that is there keeps its place.
    pub fn set(&mut self, key: &str, value: Self) {
        let Self::Map(entries) = self else { return };
        match entries.iter_mut().find(|(name, _)| name == key) {
            Some((_, old)) => *old = value,
            None => entries.push((key.to_owned(), value)),
        }
    }

    /// The stronger over the weaker: objects key by key, anything else as a whole.
    pub fn merge(&mut self, stronger: Self) {
        match (self, stronger) {
            (Self::Map(weaker), Self::Map(stronger)) => {
                for (key, value) in stronger {
                    match weaker.iter_mut().find(|(name, _)| *name == key) {
                        Some((_, old)) => old.merge(value),
                        None => weaker.push((key, value)),
                    }
                }
            }
            (old, new) => *old = new,
        }
    }

    pub fn value(&self) -> Value {
        match self {
            Self::Plain(value) => value.clone(),
            Self::Map(entries) => {
                entries.iter().map(|(key, value)| (key.clone(), value.value())).collect::<Map<_, _>>().into()
            }
        }
    }
}

fn node(value: &ast::Value<'_>) -> Node {
    match value {
        ast::Value::Object(object) => Node::Map(
            object
                .properties
                .iter()
                .map(|property| (property.name.as_str().to_owned(), node(&property.value)))
                .collect(),
        ),
        ast::Value::Array(array) => Node::Plain(array.elements.iter().map(|element| node(element).value()).collect()),
        ast::Value::StringLit(text) => Node::text(&text.value),
        ast::Value::NumberLit(number) => Node::Plain(serde_json::from_str(number.value).unwrap_or_default()),
        ast::Value::BooleanLit(truth) => Node::Plain(Value::Bool(truth.value)),
        ast::Value::NullKeyword(_) => Node::Plain(Value::Null),
    }
}
