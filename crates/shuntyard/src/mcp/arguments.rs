//! What a client sent, read by hand: every error names the argument, so that a model can correct its call.
//!
//! Not read with serde's derive: its errors do not name the argument that is of a wrong type, and a schema derived from
//! types would have the unions that `field.rs` avoids.
//!
//! Nulls and empty texts count as left out, because models fill in arguments that they do not need.

use super::field::{Field, Kind, Need};
use serde_json::{Map, Value};
use shuntyard_core::values::{duration::Limit, nearest::nearest, schema::AnswerSchema};
use shuntyard_engine::queue::jobs::JobError;
use std::collections::BTreeMap;

/// The arguments of one call, each of the kind of its field.
#[derive(Debug)]
pub struct Arguments(BTreeMap<&'static str, Argument>);

#[derive(Debug, Clone, PartialEq)]
enum Argument {
    Text(String),
    Texts(Vec<String>),
    Switch(bool),
    Time(Limit),
    Count(u64),
    Json(Value),
}

impl Arguments {
    pub fn read(fields: &[Field], raw: &Map<String, Value>) -> Result<Self, JobError> {
        let mut read = BTreeMap::new();
        for (name, value) in raw {
            let Some(field) = fields.iter().find(|field| field.name == name) else {
                return Err(unknown(name, fields));
            };
            if !is_absent(value) {
                read.insert(field.name, argument(field, value)?);
            }
        }
        for field in fields.iter().filter(|field| field.need == Need::Required) {
            if !read.contains_key(field.name) {
                let message = format!("`{}` is missing", field.name);
                return Err(JobError::usage(message, format!("give {}: {}", field.kind.expected(), field.what)));
            }
        }
        Ok(Self(read))
    }

    pub fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// The names of what was given.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().copied()
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name) {
            Some(Argument::Text(text)) => Some(text),
            _ => None,
        }
    }

    pub fn owned(&self, name: &str) -> Option<String> {
        self.text(name).map(str::to_owned)
    }

    pub fn texts(&self, name: &str) -> Vec<String> {
        match self.0.get(name) {
            Some(Argument::Texts(texts)) => texts.clone(),
            _ => Vec::new(),
        }
    }

    pub fn switch(&self, name: &str) -> Option<bool> {
        match self.0.get(name) {
            Some(Argument::Switch(on)) => Some(*on),
            _ => None,
        }
    }

    pub fn time(&self, name: &str) -> Option<Limit> {
        match self.0.get(name) {
            Some(Argument::Time(limit)) => Some(*limit),
            _ => None,
        }
    }

    pub fn count(&self, name: &str) -> Option<u64> {
        match self.0.get(name) {
            Some(Argument::Count(count)) => Some(*count),
            _ => None,
        }
    }

    pub fn json(&self, name: &str) -> Option<Value> {
        match self.0.get(name) {
            Some(Argument::Json(value)) => Some(value.clone()),
            _ => None,
        }
    }
}

fn is_absent(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.trim().is_empty(),
        _ => false,
    }
}

fn unknown(name: &str, fields: &[Field]) -> JobError {
    let names = || fields.iter().map(|field| field.name);
    let valid = names().map(str::to_owned).collect();
    let hint = match nearest(name, names(), 1).first() {
        Some(close) => format!("did you mean `{close}`?"),
        None => format!("use only: {}", names().collect::<Vec<_>>().join(", ")),
    };
    JobError { valid, ..JobError::usage(format!("there is no argument `{name}`"), hint) }
}

fn wrong(field: &Field, value: &Value) -> JobError {
    let found = match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => format!("\"{}\"", text.chars().take(60).collect::<String>()),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    };
    let message = format!("`{}` must be {}, not {found}", field.name, field.kind.expected());
    match field.kind {
        Kind::Choice(words) => JobError::choose(message, words.iter().copied()),
        _ => JobError::usage(message, field.what),
    }
}

fn argument(field: &Field, value: &Value) -> Result<Argument, JobError> {
    let read = match (field.kind, value) {
        (Kind::Text, Value::String(text)) => Some(Argument::Text(text.clone())),
        (Kind::Choice(words), Value::String(text)) => {
            words.contains(&text.as_str()).then(|| Argument::Text(text.clone()))
        }
        (Kind::Texts, Value::Array(items)) => texts(items).map(Argument::Texts),
        (Kind::Switch, Value::Bool(on)) => Some(Argument::Switch(*on)),
        (Kind::Time, Value::Number(seconds)) => limit(&seconds.to_string()).map(Argument::Time),
        (Kind::Time, Value::String(text)) => limit(text).map(Argument::Time),
        (Kind::Count(most), Value::Number(number)) => {
            number.as_u64().filter(|count| (1..=most).contains(count)).map(Argument::Count)
        }
        (Kind::Schema, Value::String(text)) => return schema(field, text),
        (Kind::Schema, Value::Object(_)) => return schema(field, &value.to_string()),
        (Kind::Models, Value::Array(items)) => models(items).map(Argument::Texts),
        (Kind::Models, Value::String(text)) => match serde_json::from_str(text) {
            Ok(Value::Array(items)) => models(&items).map(Argument::Texts),
            _ => None,
        },
        _ => None,
    };
    read.ok_or_else(|| wrong(field, value))
}

fn limit(text: &str) -> Option<Limit> {
    text.parse().ok()
}

fn texts(items: &[Value]) -> Option<Vec<String>> {
    items.iter().map(|item| item.as_str().filter(|text| !text.trim().is_empty()).map(str::to_owned)).collect()
}

/// `"provider/model"`, or `{"provider": …, "model": …}`.
fn models(items: &[Value]) -> Option<Vec<String>> {
    let named = |item: &Value| match item {
        Value::String(text) if !text.trim().is_empty() => Some(text.clone()),
        Value::Object(pair) if pair.len() == 2 => {
            Some(format!("{}/{}", pair.get("provider")?.as_str()?, pair.get("model")?.as_str()?))
        }
        _ => None,
    };
    items.iter().map(named).collect()
}

fn schema(field: &Field, text: &str) -> Result<Argument, JobError> {
    let schema = AnswerSchema::parse(text).map_err(|error| {
        let example = r#"for example {"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}"#;
        JobError::usage(format!("`{}`: {error}", field.name), example)
    })?;
    Ok(Argument::Json(schema.source().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::time::Duration;

    const FIELDS: &[Field] = &[
        Field::required("task", Kind::Text, "what to do"),
        Field::optional("kind", Kind::Choice(&["auto", "op"]), "which kind"),
        Field::optional("attachments", Kind::Texts, "files"),
        Field::optional("forceNew", Kind::Switch, "a new one"),
        Field::optional("timeout", Kind::Time, "how long"),
        Field::optional("limit", Kind::Count(100), "how many"),
        Field::optional("jsonSchema", Kind::Schema, "of the answer"),
        Field::optional("models", Kind::Models, "who"),
    ];

    fn read(value: &Value) -> Result<Arguments, JobError> {
        Arguments::read(FIELDS, value.as_object().expect("an object"))
    }

    #[test]
    fn what_is_meant_is_read() {
        let schema = json!({"type": "object"});
        let read = read(&json!({"task": "go", "kind": "op", "attachments": ["a"], "forceNew": false, "timeout": "1m",
            "limit": 3, "jsonSchema": schema.to_string(), "models": ["p/m", {"provider": "q", "model": "n/o"}]}))
        .expect("arguments");
        assert_eq!((read.text("task"), read.text("kind")), (Some("go"), Some("op")));
        assert_eq!((read.texts("attachments"), read.switch("forceNew")), (vec!["a".to_owned()], Some(false)));
        assert_eq!((read.time("timeout"), read.count("limit")), (Some(Limit::seconds(60)), Some(3)));
        assert_eq!((read.json("jsonSchema"), read.texts("models")), (Some(schema), vec!["p/m".into(), "q/n/o".into()]));
    }

    #[test]
    fn other_ways_to_say_the_same_are_taken() {
        let time = |value: Value| read(&json!({"task": "go", "timeout": value})).expect("arguments").time("timeout");
        assert_eq!(time(json!(90)), Some(Limit::seconds(90)));
        assert_eq!(time(json!(1.5)), Some(Limit(Some(Duration::from_millis(1500)))));
        assert_eq!(
            (time(json!(0)), time(json!("none")), time(json!(null))),
            (Some(Limit(None)), Some(Limit(None)), None)
        );
        let listed = read(&json!({"task": "go", "models": "[{\"provider\":\"p\",\"model\":\"m\"},\"q/n\"]"}));
        assert_eq!(listed.expect("arguments").texts("models"), ["p/m", "q/n"]);
        let schema = read(&json!({"task": "go", "jsonSchema": {"type": "object"}})).expect("arguments");
        assert!(schema.json("jsonSchema").is_some());
        assert!(!read(&json!({"task": "go", "kind": ""})).expect("arguments").has("kind"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        let table = [
            (json!({}), "`task` is missing"),
            (json!({"task": "  "}), "`task` is missing"),
            (json!({"task": 7}), "`task` must be a text, not 7"),
            (json!({"task": "go", "kind": "wokrer"}), "`kind` must be one of auto, op, not \"wokrer\""),
            (json!({"task": "go", "attachments": "a.png"}), "`attachments` must be a list of texts, not \"a.png\""),
            (json!({"task": "go", "attachments": [1]}), "`attachments` must be a list of texts, not a list"),
            (json!({"task": "go", "forceNew": "yes"}), "`forceNew` must be true or false, not \"yes\""),
            (json!({"task": "go", "limit": 0}), "`limit` must be a whole number from 1 to 100, not 0"),
            (json!({"task": "go", "limit": 1.5}), "`limit` must be a whole number from 1 to 100, not 1.5"),
            (json!({"task": "go", "jsonSchema": "{"}), "`jsonSchema`: the schema is not JSON"),
            (json!({"task": "go", "jsonSchema": "[]"}), "`jsonSchema`: the schema must describe an object"),
            (json!({"task": "go", "models": "p/m"}), "`models` must be a list of models"),
            (json!({"task": "go", "models": [{"provider": "p"}]}), "`models` must be a list of models"),
            (json!({"task": "go", "timeout": -1}), "`timeout` must be a number of seconds"),
            (json!({"task": "go", "timeout": {}}), "`timeout` must be a number of seconds"),
            (json!({"task": "go", "taskk": "go"}), "there is no argument `taskk`"),
        ];
        for (value, message) in table {
            let error = read(&value).expect_err("a refusal");
            assert!(error.message.starts_with(message), "{value}: {}", error.message);
            assert!(!error.hint.is_empty(), "{value}");
        }
        assert_eq!(read(&json!({"task": "go", "time_out": 3})).expect_err("a refusal").hint, "did you mean `timeout`?");
        assert_eq!(read(&json!({"kind": "x"})).expect_err("a refusal").valid, ["auto", "op"]);
    }
}
