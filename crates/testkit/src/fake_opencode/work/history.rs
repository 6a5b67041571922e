//! The conversation so far, as a provider of the OpenAI kind wants it.

use super::text;
use serde_json::{Value, json};

pub(super) fn messages(stored: &[Value], model: &Value) -> Vec<Value> {
    let since =
        stored.iter().rposition(|message| message["info"]["summary"] == true && message["info"]["finish"] == "stop");
    let mut told = Vec::new();
    for message in &stored[since.unwrap_or_default()..] {
        if message["info"]["role"] == "user" {
            told.push(user(message, model));
        } else {
            assistant(message, &mut told);
        }
    }
    told
}

fn user(message: &Value, model: &Value) -> Value {
    let sees = model["capabilities"]["input"]["image"] == true;
    let parts = message["parts"].as_array().into_iter().flatten();
    let mut content: Vec<Value> = parts.filter_map(|part| content(part, sees)).collect();
    match content.as_mut_slice() {
        [only] if only["type"] == "text" => json!({ "role": "user", "content": only["text"].take() }),
        _ => json!({ "role": "user", "content": content }),
    }
}

fn content(part: &Value, sees: bool) -> Option<Value> {
    match part["type"].as_str()? {
        "text" => Some(json!({ "type": "text", "text": part["text"] })),
        "file" if text(&part["mime"]).starts_with("image/") && sees => {
            Some(json!({ "type": "image_url", "image_url": { "url": part["url"] } }))
        }
        "file" if text(&part["mime"]).starts_with("image/") => {
            let name = text(&part["filename"]);
            let message =
                format!("ERROR: Cannot read \"{name}\" (this model does not support image input). Inform the user.");
            Some(json!({ "type": "text", "text": message }))
        }
        "subtask" => Some(json!({ "type": "text", "text": "The following tool was executed by the user" })),
        "compaction" => Some(json!({ "type": "text", "text": "What did we do so far?" })),
        _ => None,
    }
}

/// A failed answer is left out, unless it was cut off after its first text or tool call.
fn assistant(message: &Value, told: &mut Vec<Value>) {
    let parts: Vec<&Value> = message["parts"].as_array().into_iter().flatten().collect();
    let useful = |part: &&&Value| matches!(part["type"].as_str(), Some("text" | "tool"));
    if parts.iter().filter(useful).count() == 0 {
        return;
    }
    if is_failed(message) && message["info"]["error"]["name"] != "MessageAbortedError" {
        return;
    }
    let joined = |kind: &str| {
        let texts = parts.iter().filter(|part| part["type"] == kind).map(|part| text(&part["text"]));
        texts.collect::<Vec<_>>().join("")
    };
    let mut answer = json!({ "role": "assistant", "content": joined("text") });
    let reasoning = joined("reasoning");
    if !reasoning.is_empty() {
        answer["reasoning_content"] = json!(reasoning);
    }
    let tools: Vec<&&Value> = parts.iter().filter(|part| part["type"] == "tool").collect();
    if !tools.is_empty() {
        let call = |part: &&&Value| {
            let function = json!({ "name": part["tool"], "arguments": part["state"]["input"].to_string() });
            json!({ "id": part["callID"], "type": "function", "function": function })
        };
        answer["tool_calls"] = tools.iter().map(call).collect();
    }
    told.push(answer);
    for part in tools {
        let state = &part["state"];
        let result = match state["status"].as_str() {
            Some("completed") => text(&state["output"]),
            Some("error") => text(&state["error"]),
            _ => "[Tool execution was interrupted]",
        };
        told.push(json!({ "role": "tool", "tool_call_id": part["callID"], "content": result }));
    }
}

fn is_failed(message: &Value) -> bool {
    !message["info"]["error"].is_null()
}
