//! What survives the process: sessions and messages, as one JSON line for each change, in the file that `OPENCODE_DB`
//! names. A line that was cut off by a kill is not read.

use serde_json::{Value, json};
use std::{
    fs::{File, OpenOptions, create_dir_all},
    io::Write,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    file: Mutex<Option<File>>,
}

/// A session with its messages, as they were stored last.
#[derive(Debug, Default)]
pub(super) struct Stored {
    pub info: Value,
    pub messages: Vec<Value>,
}

impl Store {
    pub fn at(path: PathBuf) -> Self {
        Self { path, file: Mutex::new(None) }
    }

    pub fn load(&self) -> Vec<Stored> {
        let text = std::fs::read(&self.path).unwrap_or_default();
        let mut sessions: Vec<Stored> = Vec::new();
        for line in text.split(|byte| *byte == b'\n') {
            let Ok(mut line) = serde_json::from_slice::<Value>(line) else { continue };
            let id = line["id"].take();
            let at = sessions.iter().position(|session| session.info["id"] == id);
            match (line["kind"].as_str(), at) {
                (Some("session"), Some(at)) => sessions[at].info = line["value"].take(),
                (Some("session"), None) => sessions.push(Stored { info: line["value"].take(), messages: vec![] }),
                (Some("message"), Some(at)) => keep(&mut sessions[at].messages, line["value"].take()),
                (Some("deleted"), Some(at)) => drop(sessions.remove(at)),
                _ => {}
            }
        }
        sessions
    }

    pub fn session(&self, info: &Value) {
        self.append(&json!({ "kind": "session", "id": info["id"], "value": info }));
    }

    pub fn message(&self, message: &Value) {
        self.append(&json!({ "kind": "message", "id": message["info"]["sessionID"], "value": message }));
    }

    pub fn deleted(&self, session: &str) {
        self.append(&json!({ "kind": "deleted", "id": session }));
    }

    /// Opened at the first change, so that a server that is only asked for its health leaves no file.
    fn append(&self, line: &Value) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            if let Some(directory) = self.path.parent() {
                drop(create_dir_all(directory));
            }
            *file = OpenOptions::new().append(true).create(true).open(&self.path).ok();
        }
        if let Some(file) = file.as_mut() {
            drop(file.write_all(format!("{line}\n").as_bytes()));
        }
    }
}

fn keep(messages: &mut Vec<Value>, message: Value) {
    match messages.iter_mut().find(|stored| stored["info"]["id"] == message["info"]["id"]) {
        Some(stored) => *stored = message,
        None => messages.push(message),
    }
}
