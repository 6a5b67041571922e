//! Reads a streamed answer: text and reasoning become parts as they arrive, tool calls are collected, and the counts
//! at the end become tokens and a cost.

use super::{super::world::now, Job, provider::Failure, text};
use serde_json::{Value, json};
use shuntyard_core::Nano;

pub(super) struct Reading<'a> {
    job: &'a Job,
    /// Empty when nothing is stored.
    message: &'a str,
    said: String,
    rest: Vec<u8>,
    /// The part that is being written, with its type.
    open: Option<(String, &'static str)>,
    answer: Answer,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub id: String,
    pub name: String,
    pub arguments: String,
}

#[derive(Debug, Default)]
pub(super) struct Answer {
    pub calls: Vec<Call>,
    pub finish: &'static str,
    usage: Value,
}

impl<'a> Reading<'a> {
    pub fn new(job: &'a Job, message: &'a str) -> Self {
        let answer = Answer { finish: "unknown", ..Answer::default() };
        Self { job, message, said: String::new(), rest: Vec::new(), open: None, answer }
    }

    /// For an answer of which only the text is wanted.
    pub fn unstored(job: &'a Job) -> Self {
        Self::new(job, "")
    }

    pub fn text(&self) -> &str {
        &self.said
    }

    /// The provider has agreed to answer.
    pub fn started(&mut self) {
        if self.message.is_empty() {
            return;
        }
        self.job.add_part(self.message, json!({ "type": "step-start" }));
    }

    pub fn take(&mut self, piece: &[u8]) -> Result<(), Failure> {
        self.rest.extend_from_slice(piece);
        while let Some(end) = self.rest.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.rest.drain(..=end).collect();
            let line = String::from_utf8_lossy(&line).into_owned();
            if let Some(data) = line.trim().strip_prefix("data:").map(str::trim).filter(|data| *data != "[DONE]") {
                self.chunk(data)?;
            }
        }
        Ok(())
    }

    fn chunk(&mut self, data: &str) -> Result<(), Failure> {
        let chunk: Value = serde_json::from_str(data).map_err(|_| {
            let fault = "Error message: JSON Parse error: Unterminated string";
            Failure::transport(format!("JSON parsing failed: Text: {data}.\n{fault}"))
        })?;
        if chunk["error"].is_object() {
            return Err(Failure::in_stream(&chunk["error"]));
        }
        if chunk["usage"].is_object() {
            self.answer.usage = chunk["usage"].clone();
        }
        let choice = &chunk["choices"][0];
        let delta = &choice["delta"];
        for (kind, field) in [("reasoning", "reasoning_content"), ("text", "content")] {
            if let Some(piece) = delta[field].as_str().filter(|piece| !piece.is_empty()) {
                self.write(kind, piece);
            }
        }
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            self.close();
            self.call(call);
        }
        if let Some(reason) = choice["finish_reason"].as_str() {
            self.answer.finish = match reason {
                "stop" => "stop",
                "length" => "length",
                "content_filter" => "content-filter",
                "tool_calls" | "function_call" => "tool-calls",
                _ => "unknown",
            };
        }
        Ok(())
    }

    fn write(&mut self, kind: &'static str, piece: &str) {
        if kind == "text" {
            self.said.push_str(piece);
        }
        if self.message.is_empty() {
            return;
        }
        if self.open.as_ref().is_none_or(|(_, open)| *open != kind) {
            self.close();
            let part = json!({ "type": kind, "text": "", "time": { "start": now() } });
            self.open = Some((self.job.add_part(self.message, part), kind));
        }
        if let Some((part, _)) = &self.open {
            self.job.delta(self.message, part, piece);
        }
    }

    /// Ends the part that is being written.
    pub fn close(&mut self) {
        if let Some((part, _)) = self.open.take() {
            self.job.edit_part(self.message, &part, |part| part["time"]["end"] = json!(now()));
        }
    }

    fn call(&mut self, told: &Value) {
        let index = told["index"].as_u64().and_then(|index| usize::try_from(index).ok()).unwrap_or_default();
        while self.answer.calls.len() <= index.min(1000) {
            self.answer.calls.push(Call { id: String::new(), name: String::new(), arguments: String::new() });
        }
        let Some(call) = self.answer.calls.get_mut(index) else { return };
        if let Some(id) = told["id"].as_str() {
            id.clone_into(&mut call.id);
        }
        call.name.push_str(text(&told["function"]["name"]));
        call.arguments.push_str(text(&told["function"]["arguments"]));
    }

    pub fn into_answer(self) -> Answer {
        self.answer
    }
}

impl Answer {
    /// Tokens as OpenCode counts them, and what they cost by prices in dollars for a million.
    pub fn bill(&self, price: &Value) -> (Value, f64) {
        let count = |path: &str| self.usage.pointer(path).and_then(Value::as_u64).unwrap_or_default();
        let (prompt, completion) = (count("/prompt_tokens"), count("/completion_tokens"));
        let cached = count("/prompt_tokens_details/cached_tokens");
        let reasoning = count("/completion_tokens_details/reasoning_tokens");
        let (input, output) = (prompt.saturating_sub(cached), completion.saturating_sub(reasoning));
        // Exact until the end, as OpenCode computes it: thousandths of a nano-dollar fit into whole numbers.
        let price = |path: &str| {
            let dollars = price.pointer(path).and_then(Value::as_f64).unwrap_or_default();
            u128::try_from(Nano::from_usd(dollars).unwrap_or_default().0).unwrap_or_default()
        };
        let sum = u128::from(input) * price("/input")
            + u128::from(output + reasoning) * price("/output")
            + u128::from(cached) * price("/cache/read");
        #[expect(clippy::cast_precision_loss, reason = "the nearest number is what OpenCode reports")]
        let cost = sum as f64 / 1e15;
        let tokens = json!({
            "total": prompt + completion, "input": input, "output": output, "reasoning": reasoning,
            "cache": { "read": cached, "write": 0 },
        });
        (tokens, cost)
    }
}
