//! Asks the types of the configuration what they accept: a value of the wrong kind is put in a place, and the refusal
//! names the right one. So the schema cannot differ from what is really read.

use crate::{
    settings::Config,
    values::{duration, size},
};
use serde::Deserialize as _;
use serde_json::{Map, Value as Json, json};
use toml::{Table, Value};

/// A name that no setting and no variant has.
const STRANGE: &str = "\u{1}";

/// Lists and objects inside each other; no setting is as deep.
const DEEPEST: u32 = 8;

pub(super) struct Probe {
    base: Table,
}

/// Puts a value at a setting's place.
type Wrap<'a> = &'a dyn Fn(Value) -> Value;

impl Probe {
    pub(super) fn new(built_in: &Table) -> Self {
        let mut base = built_in.clone();
        // Hundreds of words that would be read again for each question.
        if let Some(Value::Table(classifier)) = base.get_mut("classifier") {
            classifier.insert("words".into(), Value::Table(Table::new()));
        }
        Self { base }
    }

    /// The kind of the setting at `path`.
    pub(super) fn setting(&self, path: &str) -> Json {
        self.kind(path, &|value| value, DEEPEST)
    }

    /// The kind of what a user may add to the table at `path`.
    pub(super) fn entry(&self, path: &str) -> Json {
        self.kind(path, &|value| one("name", value), DEEPEST)
    }

    fn kind(&self, path: &str, wrap: Wrap<'_>, depth: u32) -> Json {
        let Some(depth) = depth.checked_sub(1) else { return json!({}) };
        let Some(refusal) = self.refusal(path, wrap(Value::Boolean(true))) else { return json!({"type": "boolean"}) };
        let expected = refusal.rsplit_once("expected ").map_or("", |(_, expected)| expected.trim());
        match expected {
            "a sequence" => {
                let items = self.kind(path, &|value| wrap(Value::Array(vec![value])), depth);
                json!({"type": "array", "items": items})
            }
            whole if is_integer(whole, 'u') => json!({"type": "integer", "minimum": 0}),
            whole if is_integer(whole, 'i') => json!({"type": "integer"}),
            size if size.starts_with("a size like") => {
                json!({"oneOf": [{"type": "integer", "minimum": 0}, {"type": "string", "pattern": size::PATTERN}]})
            }
            map if map == "a map" || map.starts_with("struct ") => self.object(path, wrap, depth),
            _ => self.text(path, wrap, depth),
        }
    }

    fn text(&self, path: &str, wrap: Wrap<'_>, depth: u32) -> Json {
        match self.refusal(path, wrap(Value::String(STRANGE.into()))) {
            Some(refusal) if refusal.starts_with("unknown variant") => {
                self.variants(path, wrap, depth, &names(&refusal))
            }
            Some(refusal) if refusal.contains("is not a duration") => {
                json!({"type": "string", "pattern": duration::PATTERN})
            }
            _ => json!({"type": "string"}),
        }
    }

    /// A variant is a word, or an object with that one name when it carries a value.
    fn variants(&self, path: &str, wrap: Wrap<'_>, depth: u32, variants: &[String]) -> Json {
        let is_word = |name: &&String| self.refusal(path, wrap(Value::String((*name).clone()))).is_none();
        let (words, others): (Vec<&String>, Vec<&String>) = variants.iter().partition(is_word);
        if others.is_empty() {
            return json!({"type": "string", "enum": words});
        }
        let mut choices: Vec<Json> = others
            .iter()
            .map(|name| {
                let inner = self.kind(path, &|value| wrap(one(name, value)), depth);
                json!({"type": "object", "properties": {name.as_str(): inner}, "required": [name],
                    "additionalProperties": false})
            })
            .collect();
        if !words.is_empty() {
            choices.push(json!({"type": "string", "enum": words}));
        }
        json!({"oneOf": choices})
    }

    /// An entry may change only a part of a built-in one, so nothing is required.
    fn object(&self, path: &str, wrap: Wrap<'_>, depth: u32) -> Json {
        let refusal = self.refusal(path, wrap(one(STRANGE, Value::Boolean(true)))).unwrap_or_default();
        if !refusal.starts_with("unknown field") {
            return json!({"type": "object"});
        }
        let fields = names(&refusal).into_iter().map(|field| {
            let kind = self.kind(path, &|value| wrap(one(&field, value)), depth);
            (field, kind)
        });
        json!({"type": "object", "properties": fields.collect::<Map<_, _>>(), "additionalProperties": false})
    }

    /// Why the configuration cannot be read with this value in this place. That something else is missing beside it is
    /// no refusal of the value.
    fn refusal(&self, path: &str, value: Value) -> Option<String> {
        let mut table = self.base.clone();
        let mut inner = &mut table;
        let (sections, last) = path.rsplit_once('.').unwrap_or(("", path));
        for section in sections.split('.').filter(|section| !section.is_empty()) {
            inner = inner.get_mut(section)?.as_table_mut()?;
        }
        inner.insert(last.to_owned(), value);
        let error = Config::deserialize(table).err()?;
        Some(error.message().to_owned()).filter(|message| !message.starts_with("missing field"))
    }
}

fn one(name: &str, value: Value) -> Value {
    Value::Table(Table::from_iter([(name.to_owned(), value)]))
}

/// `u32`, `usize` and so on.
fn is_integer(expected: &str, sign: char) -> bool {
    expected.strip_prefix(sign).is_some_and(|size| size == "size" || size.parse::<u8>().is_ok())
}

/// The names that a refusal offers: unknown variant `x`, expected one of `a`, `b`.
fn names(refusal: &str) -> Vec<String> {
    let offered = refusal.rsplit_once("expected ").map_or("", |(_, offered)| offered);
    offered.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}
