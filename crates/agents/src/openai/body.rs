//! The JSON of a request. What it holds is borrowed; only images are copied, as text.

use super::{
    adapt::{Manner, OutputLimit, StructureForm},
    ask::Ask,
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde::Serialize;
use serde_json::Value;
use shuntyard_core::routing::request::Image;
use std::collections::BTreeMap;

/// The name that the wire format asks for.
const SCHEMA_NAME: &str = "answer";

#[derive(Debug, Serialize)]
struct Body<'a> {
    model: &'a str,
    messages: Vec<Message<'a>>,
    stream: bool,
    stream_options: StreamOptions,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_completion_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    response_format: Option<ResponseFormat<'a>>,
    #[serde(flatten)]
    extra: BTreeMap<&'a str, &'a Value>,
}

#[derive(Debug, Serialize)]
struct StreamOptions {
    include_usage: bool,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Content<'a>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Content<'a> {
    Borrowed(&'a str),
    Owned(String),
    Parts(Vec<Part<'a>>),
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Part<'a> {
    Text { text: &'a str },
    ImageUrl { image_url: ImageUrl },
}

#[derive(Debug, Serialize)]
struct ImageUrl {
    url: String,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum ResponseFormat<'a> {
    JsonSchema { json_schema: Named<'a> },
    JsonObject,
}

#[derive(Debug, Serialize)]
struct Named<'a> {
    name: &'static str,
    schema: &'a Value,
    strict: bool,
}

pub(super) fn request_body(ask: &Ask<'_>, manner: Manner) -> Result<Vec<u8>, serde_json::Error> {
    let limit = |name: OutputLimit| ask.max_output_tokens.filter(|_| manner.output_limit == Some(name));
    let response_format = match (manner.form, ask.schema) {
        (Some(StructureForm::Schema), Some(schema)) => {
            Some(ResponseFormat::JsonSchema { json_schema: Named { name: SCHEMA_NAME, schema, strict: true } })
        }
        (Some(StructureForm::Object), Some(_)) => Some(ResponseFormat::JsonObject),
        (Some(StructureForm::Words) | None, _) | (_, None) => None,
    };
    serde_json::to_vec(&Body {
        model: ask.model,
        messages: messages(ask, manner),
        stream: true,
        stream_options: StreamOptions { include_usage: true },
        max_tokens: limit(OutputLimit::MaxTokens),
        max_completion_tokens: limit(OutputLimit::MaxCompletionTokens),
        response_format,
        extra: extra(ask),
    })
}

/// What we set ourselves must not be set twice: a provider may believe either.
fn extra<'a>(ask: &Ask<'a>) -> BTreeMap<&'a str, &'a Value> {
    let is_ours = |name: &str| match name {
        "model" | "messages" | "stream" | "stream_options" => true,
        "max_tokens" | "max_completion_tokens" => ask.max_output_tokens.is_some(),
        "response_format" => ask.schema.is_some(),
        _ => false,
    };
    let fields = ask.extra.into_iter().flatten().map(|(name, value)| (name.as_str(), value));
    fields.filter(|(name, _)| !is_ours(name)).collect()
}

fn messages<'a>(ask: &Ask<'a>, manner: Manner) -> Vec<Message<'a>> {
    let mut messages = Vec::with_capacity(2 + 2 * ask.earlier.len());
    let in_words = match manner.form {
        Some(StructureForm::Object | StructureForm::Words) => ask.schema.map(schema_in_words),
        Some(StructureForm::Schema) | None => None,
    };
    let system = match (ask.system, in_words) {
        (Some(system), Some(words)) => Some(Content::Owned(format!("{system}\n\n{words}"))),
        (None, Some(words)) => Some(Content::Owned(words)),
        (Some(system), None) => Some(Content::Borrowed(system)),
        (None, None) => None,
    };
    messages.extend(system.map(|content| Message { role: "system", content }));
    let first = messages.len();
    for earlier in ask.earlier {
        messages.push(Message { role: "user", content: Content::Borrowed(earlier.prompt) });
        messages.push(Message { role: "assistant", content: Content::Borrowed(earlier.answer) });
    }
    messages.push(Message { role: "user", content: Content::Borrowed(ask.prompt) });
    if !ask.images.is_empty() {
        let text = ask.earlier.first().map_or(ask.prompt, |earlier| earlier.prompt);
        let mut parts = vec![Part::Text { text }];
        parts.extend(ask.images.iter().map(|image| Part::ImageUrl { image_url: ImageUrl { url: data_url(image) } }));
        messages[first].content = Content::Parts(parts);
    }
    messages
}

fn schema_in_words(schema: &Value) -> String {
    format!(
        "Answer with one JSON object and nothing else: no prose around it, no code fence. It has to fit this JSON \
         Schema:\n{schema}"
    )
}

fn data_url(image: &Image) -> String {
    let mut url = format!("data:{};base64,", image.mime);
    STANDARD.encode_string(&image.bytes, &mut url);
    url
}
