//! From a step to what goes over the wire, as a list of actions.
//!
//! This is a pure function of the step and the request; `body` executes the actions.

use crate::{
    openai::{self, Envelope, Request, Said},
    step::{Fault, Finish, RetryAfter, Step, Tokens, ToolCall, UsageReport},
};
use bytes::Bytes;
use serde_json::{Value, json};
use std::{collections::VecDeque, time::Duration};

/// The tool that OpenCode offers for answers that follow a schema.
const STRUCTURED_TOOL: &str = "StructuredOutput";

#[derive(Debug)]
pub(crate) struct Plan {
    pub delay: Duration,
    pub head: Head,
    pub actions: VecDeque<Action>,
    /// What the answer costs the provider, whether or not that is reported to the client.
    pub tokens: Tokens,
}

#[derive(Debug)]
pub(crate) enum Head {
    Never,
    Send { code: u16, content_type: &'static str, retry_after: Option<String> },
}

#[derive(Debug, PartialEq)]
pub(crate) enum Action {
    Send(Bytes),
    /// A piece that holds the token counts: once it is out, the answer counts as billed.
    SendUsage(Bytes),
    Pause(Duration),
    Hang,
    Break,
}

pub(crate) fn plan(step: &Step, request: &Request, said: &[Said], ordinal: usize) -> Plan {
    let delay = Duration::from_millis(step.delay_ms);
    if let Some(Fault::Status { code, retry_after, message, body }) = &step.fault {
        return refusal(*code, retry_after.as_ref(), message.as_deref(), body.as_deref(), delay);
    }
    let content = Content::of(step, request, ordinal);
    let tokens = match step.usage {
        UsageReport::Exact(tokens) => tokens,
        UsageReport::Derived | UsageReport::None => content.derived_tokens(said),
    };
    let reported = (step.usage != UsageReport::None && request.wants_usage()).then_some(tokens);
    let envelope = Envelope { ordinal, model: &request.model };
    let content_type = if request.stream { "text/event-stream" } else { "application/json" };
    let head = match step.fault {
        Some(Fault::HangBeforeHeaders) => Head::Never,
        _ => Head::Send { code: 200, content_type, retry_after: None },
    };
    let actions = if request.stream {
        streamed(step, &content, &envelope, reported)
    } else {
        whole(step, &content, &envelope, reported)
    };
    Plan { delay, head, actions: actions.into(), tokens }
}

/// An error response; nothing was generated, so nothing was spent.
pub(crate) fn refusal(
    code: u16,
    retry_after: Option<&RetryAfter>,
    message: Option<&str>,
    body: Option<&str>,
    delay: Duration,
) -> Plan {
    let usual = || openai::error(message.unwrap_or(&format!("scripted error {code}")), "scripted_error").to_string();
    let body = body.map_or_else(usual, str::to_owned);
    let content_type = match body.trim_start() {
        html if html.starts_with('<') => "text/html",
        stream if stream.starts_with("data:") => "text/event-stream",
        _ => "application/json",
    };
    let retry_after = retry_after.map(|value| match value {
        RetryAfter::Seconds(seconds) => seconds.to_string(),
        RetryAfter::Date(date) => date.clone(),
    });
    let head = Head::Send { code, content_type, retry_after };
    Plan { delay, head, actions: VecDeque::from([Action::Send(body.into())]), tokens: Tokens::default() }
}

struct Content {
    reasoning: Option<String>,
    text: Vec<String>,
    calls: Vec<Value>,
    finish: Option<String>,
}

impl Content {
    fn of(step: &Step, request: &Request, ordinal: usize) -> Self {
        if step.fault == Some(Fault::Empty) {
            return Self { reasoning: None, text: vec![], calls: vec![], finish: Some("stop".to_owned()) };
        }
        let mut text = step.text.clone();
        let mut tools = step.tools.clone();
        if let Some(value) = &step.structured {
            if request.tool_names().iter().any(|name| name == STRUCTURED_TOOL) {
                tools.push(ToolCall { name: STRUCTURED_TOOL.to_owned(), arguments: value.clone() });
            } else {
                text.push(value.to_string());
            }
        }
        let finish = match &step.finish {
            Finish::Natural if tools.is_empty() => Some("stop".to_owned()),
            Finish::Natural => Some("tool_calls".to_owned()),
            Finish::None => None,
            Finish::Reason(reason) => Some(reason.clone()),
        };
        let call = |(index, tool): (usize, &ToolCall)| {
            json!({
                "index": index, "id": format!("call_{ordinal}_{index}"), "type": "function",
                "function": { "name": tool.name, "arguments": tool.arguments.to_string() },
            })
        };
        let calls = tools.iter().enumerate().map(call).collect();
        Self { reasoning: step.reasoning.clone(), text, calls, finish }
    }

    fn derived_tokens(&self, said: &[Said]) -> Tokens {
        let characters = |text: &str| text.chars().count();
        let heard: usize = said.iter().map(|message| characters(&message.text)).sum();
        let spoken: usize = self.text.iter().map(|text| characters(text)).sum();
        let called: usize = self.calls.iter().map(|call| characters(&call["function"].to_string())).sum();
        let reasoning = as_tokens(self.reasoning.as_deref().map_or(0, characters));
        Tokens::new(as_tokens(heard), as_tokens(spoken + called) + reasoning).reasoning(reasoning)
    }

    /// The increments of a stream; the first one names the role.
    fn deltas(&self) -> Vec<Value> {
        let reasoning = self.reasoning.iter().map(|text| json!({ "reasoning_content": text }));
        let text = self.text.iter().map(|text| json!({ "content": text }));
        let calls = self.calls.iter().map(|call| json!({ "tool_calls": [call] }));
        let mut deltas: Vec<Value> = reasoning.chain(text).chain(calls).collect();
        if let Some(first) = deltas.first_mut() {
            first["role"] = json!("assistant");
        }
        deltas
    }
}

fn as_tokens(characters: usize) -> u64 {
    u64::try_from(characters.div_ceil(4)).unwrap_or(u64::MAX)
}

fn streamed(step: &Step, content: &Content, envelope: &Envelope<'_>, reported: Option<Tokens>) -> Vec<Action> {
    let event = |data: &Value| Bytes::from(format!("data: {data}\n\n"));
    let chunk = |delta: &Value, finish: Option<&str>| {
        event(&envelope.chunk(&json!([{ "index": 0, "delta": delta, "finish_reason": finish }])))
    };
    let mut pieces: Vec<Bytes> = content.deltas().iter().map(|delta| chunk(delta, None)).collect();
    let last = match &step.fault {
        Some(Fault::HangBeforeHeaders | Fault::HangBeforeFirstByte) => return vec![Action::Hang],
        Some(Fault::HangMidStream { after_chunks }) => {
            pieces.truncate(*after_chunks);
            vec![Action::Hang]
        }
        Some(Fault::DropConnection { after_chunks }) => {
            pieces.truncate(*after_chunks);
            vec![Action::Break]
        }
        Some(Fault::Malformed) => {
            vec![Action::Send(Bytes::from_static(b"data: {\"choices\":[{\"del\x07 <garbage>\n\n"))]
        }
        Some(Fault::Truncated) => vec![],
        Some(Fault::Empty | Fault::Status { .. }) | None => {
            let finish = content.finish.as_deref().map(|reason| Action::Send(chunk(&json!({}), Some(reason))));
            let usage = reported.map(|tokens| {
                let mut object = envelope.chunk(&json!([]));
                object["usage"] = openai::usage(&tokens);
                Action::SendUsage(event(&object))
            });
            let done = Action::Send(Bytes::from_static(b"data: [DONE]\n\n"));
            finish.into_iter().chain(usage).chain([done]).collect()
        }
    };
    let mut actions = paced(pieces, step.chunk_delay_ms);
    actions.extend(last);
    actions
}

fn paced(pieces: Vec<Bytes>, delay_ms: u64) -> Vec<Action> {
    let mut actions = Vec::new();
    for piece in pieces {
        if delay_ms > 0 && !actions.is_empty() {
            actions.push(Action::Pause(Duration::from_millis(delay_ms)));
        }
        actions.push(Action::Send(piece));
    }
    actions
}

/// An answer in one piece. The faults that come in the middle of a stream cut it in half.
fn whole(step: &Step, content: &Content, envelope: &Envelope<'_>, reported: Option<Tokens>) -> Vec<Action> {
    let mut message = json!({ "role": "assistant", "content": content.text.concat() });
    if let Some(reasoning) = &content.reasoning {
        message["reasoning_content"] = json!(reasoning);
    }
    if !content.calls.is_empty() {
        message["tool_calls"] = json!(content.calls);
    }
    let mut object = envelope.completion(&json!([{ "index": 0, "message": message, "finish_reason": content.finish }]));
    if let Some(tokens) = &reported {
        object["usage"] = openai::usage(tokens);
    }
    let bytes = Bytes::from(object.to_string());
    let half = bytes.slice(..bytes.len() / 2);
    let begun = |after_chunks: usize| if after_chunks == 0 { Bytes::new() } else { half.clone() };
    match &step.fault {
        Some(Fault::HangBeforeHeaders | Fault::HangBeforeFirstByte) => vec![Action::Hang],
        Some(Fault::HangMidStream { after_chunks }) => vec![Action::Send(begun(*after_chunks)), Action::Hang],
        Some(Fault::DropConnection { after_chunks }) => vec![Action::Send(begun(*after_chunks)), Action::Break],
        Some(Fault::Malformed | Fault::Truncated) => vec![Action::Send(half)],
        Some(Fault::Empty | Fault::Status { .. }) | None => {
            vec![if reported.is_some() { Action::SendUsage(bytes) } else { Action::Send(bytes) }]
        }
    }
}
