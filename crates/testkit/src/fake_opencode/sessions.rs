//! The sessions with their messages, and the permissions that are waited for.
//!
//! Only data: what a prompt does with them is in `run`.

use super::{shapes, store::Stored, work::Reply, world::now};
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, hash_map::RandomState},
    hash::BuildHasher,
};
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

#[derive(Debug, Default)]
pub(super) struct Sessions {
    sessions: BTreeMap<String, Session>,
    pub permissions: BTreeMap<String, Value>,
    /// The calls that wait for a reply, by the id of what they ask.
    pub waiting: BTreeMap<String, oneshot::Sender<Reply>>,
    last_id: u64,
}

#[derive(Debug)]
pub(super) struct Session {
    pub info: Value,
    /// Each with `info` and `parts`.
    pub messages: Vec<Value>,
    /// The prompt that is being worked on; a session with one is busy.
    pub current: Option<Prompt>,
    /// Of a session that really works, until it is idle again.
    pub status: Option<Value>,
    cancel: CancellationToken,
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
    /// Twelve hexadecimal digits of time and fourteen other characters. Ids ascend; those of sessions descend.
    pub fn new_id(&mut self, kind: &str) -> String {
        self.last_id = (now() * 0x1000 + 1).max(self.last_id + 1);
        let time = if kind == "ses" { !self.last_id } else { self.last_id } & 0xffff_ffff_ffff;
        let tail = RandomState::new().hash_one(self.last_id);
        format!("{kind}_{time:012x}{:014x}", tail >> 8)
    }

    /// One that comes after `floor`, whose client may have chosen it in this very millisecond.
    pub fn new_id_after(&mut self, kind: &str, floor: &str) -> String {
        loop {
            let id = self.new_id(kind);
            if id.as_str() > floor || !floor.starts_with(&id[..8]) {
                return id;
            }
            self.last_id += 0x1000;
        }
    }

    /// Restores what an earlier process has stored. What ran there does not run any more.
    pub fn restore(&mut self, stored: Vec<Stored>) {
        for Stored { info, messages } in stored {
            let id = info["id"].as_str().unwrap_or_default().to_owned();
            self.sessions.insert(id, Session { messages, ..Session::new(info) });
        }
    }

    /// Marks a session as running; false when it runs already.
    pub fn started(&mut self, id: &str, cancel: &CancellationToken) -> bool {
        let Some(session) = self.sessions.get_mut(id).filter(|session| session.status.is_none()) else { return false };
        session.status = Some(json!({ "type": "busy" }));
        session.cancel = cancel.clone();
        true
    }

    pub fn set_status(&mut self, id: &str, status: Value) {
        if let Some(session) = self.sessions.get_mut(id) {
            session.status = Some(status);
        }
    }

    /// Makes a session idle, unless it has a prompt without an answer and was not ended; false when it has one.
    pub fn stopped(&mut self, id: &str, ended: bool) -> bool {
        let Some(session) = self.sessions.get_mut(id) else { return true };
        if !ended && session.messages.last().is_some_and(|message| message["info"]["role"] == "user") {
            return false;
        }
        session.status = None;
        true
    }

    /// Ends what a session does, and what its children do.
    pub fn cancel(&self, id: &str) {
        if let Some(session) = self.sessions.get(id).filter(|session| session.status.is_some()) {
            session.cancel.cancel();
        }
    }

    /// Ends everything that runs in a directory, or anywhere.
    pub fn cancel_all(&self, directory: Option<&str>) {
        let here = |session: &&Session| directory.is_none_or(|directory| session.info["directory"] == directory);
        self.sessions.values().filter(here).for_each(|session| session.cancel.cancel());
    }

    pub fn create(&mut self, directory: &str, body: &Value, version: &str) -> Value {
        let id = self.new_id("ses");
        let mut info = shapes::session(&id, directory, version, now());
        for field in ["title", "parentID", "metadata", "permission", "agent", "model"] {
            if let Some(value) = body.get(field) {
                info[field] = value.clone();
            }
        }
        self.sessions.insert(id, Session::new(info.clone()));
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
    pub fn busy(&self, directory: Option<&str>) -> Value {
        let here = |session: &Session| directory.is_none_or(|directory| session.info["directory"] == directory);
        let status = |session: &Session| match (&session.status, &session.current) {
            (Some(status), _) => Some(status.clone()),
            (None, Some(_)) => Some(json!({ "type": "busy" })),
            (None, None) => None,
        };
        let busy = self.sessions.iter().filter(|(_, session)| here(session));
        Value::Object(busy.filter_map(|(id, session)| Some((id.clone(), status(session)?))).collect::<Map<_, _>>())
    }

    pub fn directory(&self, id: &str) -> String {
        let directory = self.get(id).and_then(|session| session.info["directory"].as_str());
        directory.unwrap_or_default().to_owned()
    }
}

impl Session {
    fn new(info: Value) -> Self {
        Self { info, messages: vec![], current: None, status: None, cancel: CancellationToken::new() }
    }

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
