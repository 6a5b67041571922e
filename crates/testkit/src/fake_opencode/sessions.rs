//! The sessions with their messages, and the permissions that are waited for.
//!
//! Only data: what a prompt does with them is in `run`.

use super::{shapes, world::now};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    sessions: BTreeMap<String, Session>,
    pub permissions: BTreeMap<String, Value>,
    last_id: u64,
}

#[derive(Debug)]
pub(super) struct Session {
    pub info: Value,
    /// Each with `info` and `parts`.
    pub messages: Vec<Value>,
    /// The prompt that is being worked on; a session with one is busy.
    pub current: Option<Prompt>,
}

/// What a client asked for.
#[derive(Debug, Clone)]
pub(super) struct Prompt {
    pub message: String,
    pub text: String,
    pub provider: String,
    pub model: String,
    pub agent: String,
}

impl Sessions {
    /// Ids ascend, as the real ones do.
    pub fn new_id(&mut self, kind: &str) -> String {
        self.last_id += 1;
        format!("{kind}_ffff{:022}", self.last_id)
    }

    pub fn create(&mut self, directory: &str, body: &Value, version: &str) -> Value {
        let id = self.new_id("ses");
        let mut info = shapes::session(&id, directory, version, now());
        for field in ["title", "parentID", "metadata", "permission", "agent", "model"] {
            if let Some(value) = body.get(field) {
                info[field] = value.clone();
            }
        }
        self.sessions.insert(id, Session { info: info.clone(), messages: vec![], current: None });
        info
    }

    pub fn get(&self, id: &str) -> Option<&Session> {
        self.sessions.get(id)
    }

    pub fn get_mut(&mut self, id: &str) -> Option<&mut Session> {
        self.sessions.get_mut(id)
    }

    pub fn remove(&mut self, id: &str) -> Option<Session> {
        self.sessions.remove(id)
    }

    pub fn all(&self) -> Vec<Value> {
        self.sessions.values().map(|session| session.info.clone()).collect()
    }

    pub fn children(&self, parent: &str) -> Vec<Value> {
        self.all().into_iter().filter(|info| info["parentID"] == parent).collect()
    }

    /// As `/session/status` gives it: the idle ones are left out.
    pub fn busy(&self) -> Value {
        let busy = self.sessions.iter().filter(|(_, session)| session.current.is_some());
        Value::Object(busy.map(|(id, _)| (id.clone(), json!({ "type": "busy" }))).collect::<Map<_, _>>())
    }

    pub fn directory(&self, id: &str) -> String {
        let directory = self.get(id).and_then(|session| session.info["directory"].as_str());
        directory.unwrap_or_default().to_owned()
    }
}

impl Session {
    /// Stores a message in place of its earlier version.
    pub fn store(&mut self, message: Value) {
        match self.messages.iter_mut().find(|stored| stored["info"]["id"] == message["info"]["id"]) {
            Some(stored) => *stored = message,
            None => self.messages.push(message),
        }
    }

    /// Adds what a message cost, as the session's sum.
    pub fn charge(&mut self, message: &Value) {
        let cost = self.info["cost"].as_f64().unwrap_or_default() + message["cost"].as_f64().unwrap_or_default();
        self.info["cost"] = json!(cost);
        for path in ["/input", "/output", "/reasoning", "/cache/read", "/cache/write"] {
            let added = message["tokens"].pointer(path).and_then(Value::as_u64).unwrap_or_default();
            if let Some(sum) = self.info["tokens"].pointer_mut(path) {
                *sum = json!(sum.as_u64().unwrap_or_default() + added);
            }
        }
    }

    pub fn last_assistant(&self) -> Option<&Value> {
        self.messages.iter().rev().find(|message| message["info"]["role"] == "assistant")
    }
}
