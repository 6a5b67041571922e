//! What a tool takes, as data: the schema that clients see and the check of what they send are made from the same rows.
//!
//! The schemas keep to one plain type for each argument, because some providers refuse unions in the schema of a tool;
//! the check accepts other forms of it, such as `"90s"` where the schema has a number of seconds.

use serde_json::{Map, Value, json};

/// One argument.
#[derive(Debug, Clone, Copy)]
pub struct Field {
    pub name: &'static str,
    pub kind: Kind,
    pub need: Need,
    /// For the model that fills it in.
    pub what: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Text,
    /// One of these words.
    Choice(&'static [&'static str]),
    Texts,
    Switch,
    /// Seconds, or a text such as `90s`.
    Time,
    /// A whole number from one up to this.
    Count(u64),
    /// A JSON Schema, as a text or as the object itself.
    Schema,
    /// Models as a list of texts; also of objects, and also as a text with either.
    Models,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    Required,
    Optional,
}

impl Field {
    pub const fn optional(name: &'static str, kind: Kind, what: &'static str) -> Self {
        Self { name, kind, need: Need::Optional, what }
    }

    pub const fn required(name: &'static str, kind: Kind, what: &'static str) -> Self {
        Self { name, kind, need: Need::Required, what }
    }

    fn schema(&self) -> Value {
        let what = self.what;
        match self.kind {
            Kind::Text | Kind::Schema => json!({"type": "string", "description": what}),
            Kind::Choice(words) => json!({"type": "string", "enum": words, "description": what}),
            Kind::Texts | Kind::Models => json!({"type": "array", "items": {"type": "string"}, "description": what}),
            Kind::Switch => json!({"type": "boolean", "description": what}),
            Kind::Time => json!({"type": "number", "minimum": 0, "description": what}),
            Kind::Count(most) => json!({"type": "integer", "minimum": 1, "maximum": most, "description": what}),
        }
    }
}

impl Kind {
    /// What is right, to complete "must be …".
    pub fn expected(self) -> String {
        match self {
            Self::Text => "a text".into(),
            Self::Choice(words) => format!("one of {}", words.join(", ")),
            Self::Texts => "a list of texts".into(),
            Self::Switch => "true or false".into(),
            Self::Time => "a number of seconds, or a text such as \"90s\" or \"5m\"".into(),
            Self::Count(most) => format!("a whole number from 1 to {most}"),
            Self::Schema => "a JSON Schema that describes an object, as a text or as JSON".into(),
            Self::Models => "a list of models, each a text such as \"provider/model\"".into(),
        }
    }
}

/// The schema of all arguments of a tool. What is not in it is refused.
pub fn schema(fields: &[Field]) -> Map<String, Value> {
    let properties: Map<String, Value> = fields.iter().map(|field| (field.name.to_owned(), field.schema())).collect();
    let required = fields.iter().filter(|field| field.need == Need::Required).map(|field| json!(field.name));
    let mut schema = Map::new();
    schema.insert("type".into(), json!("object"));
    schema.insert("properties".into(), Value::Object(properties));
    schema.insert("required".into(), required.collect());
    schema.insert("additionalProperties".into(), json!(false));
    schema
}
