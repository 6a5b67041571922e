//! The JSON of a good server, field for field as OpenCode 1.18 sends it.

use super::{behaviour::Behaviour, sessions::Prompt};
use serde_json::{Map, Value, json};

pub(super) fn session(id: &str, directory: &str, version: &str, now: u64) -> Value {
    json!({
        "id": id, "slug": "swift-cabin", "projectID": "global", "directory": directory, "path": "",
        "title": "New session", "version": version, "cost": 0.0, "tokens": no_tokens(),
        "time": { "created": now, "updated": now },
    })
}

pub(super) fn user_message(session: &str, prompt: &Prompt, now: u64) -> Value {
    json!({
        "info": {
            "id": prompt.message, "role": "user", "sessionID": session, "agent": prompt.agent,
            "model": { "providerID": prompt.provider, "modelID": prompt.model }, "time": { "created": now },
        },
        "parts": [part(session, &prompt.message, "prt_user", &json!({ "type": "text", "text": prompt.text }))],
    })
}

/// An assistant message that has begun and has neither cost, nor finish, nor end.
pub(super) fn assistant_message(session: &str, id: &str, prompt: &Prompt, directory: &str, now: u64) -> Value {
    json!({
        "info": {
            "id": id, "parentID": prompt.message, "role": "assistant", "sessionID": session,
            "mode": prompt.agent, "agent": prompt.agent, "path": { "cwd": directory, "root": directory },
            "cost": 0.0, "tokens": no_tokens(), "modelID": prompt.model, "providerID": prompt.provider,
            "time": { "created": now },
        },
        "parts": [part(session, id, "prt_start", &json!({ "type": "step-start" }))],
    })
}

/// Completes a message with a text and the usual tokens.
pub(super) fn complete(message: &mut Value, text: &str, now: u64) {
    let tokens =
        json!({ "total": 1050, "input": 800, "output": 40, "reasoning": 10, "cache": { "read": 200, "write": 0 } });
    let cost = 0.00321;
    let (session, id) = identity(message);
    let spoken = json!({ "type": "text", "text": text, "time": { "start": now, "end": now } });
    let finished = json!({ "type": "step-finish", "reason": "stop", "tokens": tokens, "cost": cost });
    if let Some(parts) = message["parts"].as_array_mut() {
        parts.push(part(&session, &id, "prt_text", &spoken));
        parts.push(part(&session, &id, "prt_finish", &finished));
    }
    message["info"]["cost"] = json!(cost);
    message["info"]["tokens"] = tokens;
    message["info"]["finish"] = json!("stop");
    message["info"]["time"]["completed"] = json!(now);
}

pub(super) fn aborted_error() -> Value {
    json!({ "name": "MessageAbortedError", "data": { "message": "Aborted" } })
}

/// An error that has nothing but a message.
pub(super) fn unknown(message: &str) -> Value {
    json!({ "name": "UnknownError", "data": { "message": message } })
}

pub(super) fn overflow(message: &str) -> Value {
    json!({ "name": "ContextOverflowError", "data": { "message": message } })
}

pub(super) fn content_filtered() -> Value {
    let message = "The response was blocked by the provider's content filter";
    json!({ "name": "ContentFilterError", "data": { "message": message } })
}

pub(super) fn missing_key(key: &str) -> Value {
    let message = format!("Missing key\n  at [\"{key}\"]");
    json!({ "name": "BadRequest", "data": { "message": message, "kind": "Payload" } })
}

/// OpenCode cannot list a prompt that it stored with a schema.
pub(super) fn unlistable(index: usize, format: &Value) -> Value {
    let message = format!("Expected OutputFormatJsonSchema, got {format}\n  at [{index}][\"info\"][\"format\"]");
    json!({ "name": "BadRequest", "data": { "message": message, "kind": "Body" } })
}

pub(super) fn permission(id: &str, session: &str, message: &str) -> Value {
    json!({
        "id": id, "sessionID": session, "permission": "external_directory", "patterns": ["/etc/*"],
        "metadata": { "filepath": "/etc/hostname" }, "always": ["/etc/*"],
        "tool": { "messageID": message, "callID": "call_1" },
    })
}

pub(super) fn unknown_error() -> Value {
    let message = "Unexpected server error. Check server logs for details.";
    json!({ "name": "UnknownError", "data": { "message": message, "ref": "err_00000001" } })
}

pub(super) fn not_found(session: &str) -> Value {
    json!({ "name": "NotFoundError", "data": { "message": format!("Session not found: {session}") } })
}

/// The configured providers with their models.
pub(super) fn providers(behaviour: &Behaviour) -> Vec<Value> {
    let mut providers: Map<String, Value> = Map::new();
    for reference in &behaviour.models {
        let (provider, model) = reference.split_once('/').unwrap_or(("scripted", reference));
        let entry = providers.entry(provider).or_insert_with(
            || json!({ "id": provider, "name": provider, "source": "config", "env": [], "options": {}, "models": {} }),
        );
        entry["models"][model] = self::model(provider, model);
    }
    providers.into_iter().map(|(_, provider)| provider).collect()
}

pub(super) fn agents() -> Value {
    let agent = |name: &str, mode: &str| {
        let rules = json!([{ "permission": "*", "pattern": "*", "action": "allow" }]);
        json!({ "name": name, "mode": mode, "native": true, "permission": rules, "options": {} })
    };
    json!([agent("build", "primary"), agent("plan", "primary"), agent("general", "subagent")])
}

fn model(provider: &str, id: &str) -> Value {
    let kinds = json!({ "text": true, "audio": false, "image": false, "video": false, "pdf": false });
    json!({
        "id": id, "providerID": provider, "name": id, "status": "active",
        "api": { "id": id, "url": "http://127.0.0.1:9/v1", "npm": "@ai-sdk/openai-compatible" },
        "capabilities": {
            "temperature": false, "reasoning": false, "attachment": false, "toolcall": true,
            "input": kinds, "output": kinds, "interleaved": false,
        },
        "cost": { "input": 3, "output": 15, "cache": { "read": 0.3, "write": 3.75 } },
        "limit": { "context": 128_000, "output": 8_192 },
        "options": {}, "headers": {}, "release_date": "", "variants": {},
    })
}

/// A part carries the ids of its message and session; its own must differ between messages.
fn part(session: &str, message: &str, prefix: &str, content: &Value) -> Value {
    let mut part = content.clone();
    part["id"] = json!(format!("{prefix}_{message}"));
    part["messageID"] = json!(message);
    part["sessionID"] = json!(session);
    part
}

fn identity(message: &Value) -> (String, String) {
    let text = |field: &str| message["info"][field].as_str().unwrap_or_default().to_owned();
    (text("sessionID"), text("id"))
}

pub(super) fn no_tokens() -> Value {
    json!({ "input": 0, "output": 0, "reasoning": 0, "cache": { "read": 0, "write": 0 } })
}
