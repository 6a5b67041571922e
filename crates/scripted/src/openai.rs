//! The wire format: what a client sends, read tolerantly, and the objects that go back.

use crate::step::Tokens;
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Debug, Deserialize)]
pub(crate) struct Request {
    pub model: String,
    #[serde(default)]
    messages: Vec<Message>,
    #[serde(default)]
    pub stream: bool,
    stream_options: Option<StreamOptions>,
    #[serde(default)]
    tools: Vec<Tool>,
    tool_choice: Option<Value>,
    response_format: Option<Value>,
}

#[derive(Debug, Deserialize)]
struct StreamOptions {
    #[serde(default)]
    include_usage: bool,
}

#[derive(Debug, Deserialize)]
struct Tool {
    function: Function,
}

#[derive(Debug, Deserialize)]
struct Function {
    name: String,
}

#[derive(Debug, Deserialize)]
struct Message {
    role: String,
    content: Option<Content>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Content {
    Text(String),
    Parts(Vec<Part>),
}

#[derive(Debug, Deserialize)]
struct Part {
    text: Option<String>,
    image_url: Option<ImageUrl>,
}

#[derive(Debug, Deserialize)]
struct ImageUrl {
    url: String,
}

/// One message of a request, with the texts of its parts joined by line breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    pub role: String,
    pub text: String,
}

impl Request {
    pub fn said(&self) -> Vec<Said> {
        self.messages.iter().map(|message| Said { role: message.role.clone(), text: message.text() }).collect()
    }

    pub fn tool_names(&self) -> Vec<String> {
        self.tools.iter().map(|tool| tool.function.name.clone()).collect()
    }

    /// The choice as a word, or as JSON when it names a function.
    pub fn tool_choice(&self) -> Option<String> {
        self.tool_choice.as_ref().map(|choice| choice.as_str().map_or_else(|| choice.to_string(), str::to_owned))
    }

    pub fn answer_form(&self) -> Option<String> {
        self.response_format.as_ref()?.get("type")?.as_str().map(str::to_owned)
    }

    /// The media type of each image; a link that does not carry its data is `url`.
    pub fn images(&self) -> Vec<String> {
        let parts = self.messages.iter().filter_map(|message| match &message.content {
            Some(Content::Parts(parts)) => Some(parts),
            Some(Content::Text(_)) | None => None,
        });
        let urls = parts.flatten().filter_map(|part| part.image_url.as_ref());
        urls.map(|image| media_type(&image.url).unwrap_or("url").to_owned()).collect()
    }

    /// Whether the answer contains token counts: always in one piece, on request in a stream.
    pub fn wants_usage(&self) -> bool {
        !self.stream || self.stream_options.as_ref().is_some_and(|options| options.include_usage)
    }
}

impl Message {
    fn text(&self) -> String {
        match &self.content {
            None => String::new(),
            Some(Content::Text(text)) => text.clone(),
            Some(Content::Parts(parts)) => {
                let texts: Vec<&str> = parts.iter().filter_map(|part| part.text.as_deref()).collect();
                texts.join("\n")
            }
        }
    }
}

fn media_type(url: &str) -> Option<&str> {
    url.strip_prefix("data:")?.split([';', ',']).next()
}

/// The fields that every object of one answer repeats.
pub(crate) struct Envelope<'a> {
    pub ordinal: usize,
    pub model: &'a str,
}

impl Envelope<'_> {
    pub fn chunk(&self, choices: &Value) -> Value {
        self.object("chat.completion.chunk", choices)
    }

    pub fn completion(&self, choices: &Value) -> Value {
        self.object("chat.completion", choices)
    }

    /// The time of creation is constant: the bytes of an answer depend on nothing but the script.
    fn object(&self, kind: &str, choices: &Value) -> Value {
        let id = format!("chatcmpl-scripted-{}", self.ordinal);
        json!({ "id": id, "object": kind, "created": 1, "model": self.model, "choices": choices })
    }
}

pub(crate) fn usage(tokens: &Tokens) -> Value {
    json!({
        "prompt_tokens": tokens.prompt_tokens,
        "completion_tokens": tokens.completion_tokens,
        "total_tokens": tokens.prompt_tokens + tokens.completion_tokens,
        "prompt_tokens_details": { "cached_tokens": tokens.cached_tokens },
        "completion_tokens_details": { "reasoning_tokens": tokens.reasoning_tokens },
    })
}

pub(crate) fn error(message: &str, kind: &str) -> Value {
    json!({ "error": { "message": message, "type": kind } })
}
