//! Messages while they are written: each change is kept, stored and sent as an event, in that order.

use super::{super::run::tell, super::shapes, super::world::now, Job};
use serde_json::{Value, json};

impl Job {
    /// Starts an assistant's message as the answer to `user` and returns its id.
    pub fn begin(&self, user: &Value, agent: &str, model: &Value) -> String {
        let info = &user["info"];
        let directory = self.instance.directory.to_string_lossy();
        let id = self.world.sessions().new_id_after("msg", super::text(&info["id"]));
        let mut message = json!({
            "info": {
                "id": id, "parentID": info["id"], "role": "assistant", "sessionID": self.session,
                "mode": agent, "agent": agent, "path": { "cwd": directory, "root": self.instance.worktree },
                "cost": 0, "tokens": shapes::no_tokens(), "modelID": model["id"], "providerID": model["providerID"],
                "time": { "created": now() },
            },
            "parts": [],
        });
        if let Some(variant) = info["model"].get("variant") {
            message["info"]["variant"] = variant.clone();
        }
        self.put(message);
        id
    }

    /// Keeps a whole message.
    pub fn put(&self, message: Value) {
        if let Some(session) = self.world.sessions().get_mut(&self.session) {
            session.store(message.clone());
        }
        self.machine.store.message(&message);
        tell(&self.world, &self.session, "message.updated", json!({ "info": message["info"] }));
        for part in message["parts"].as_array().into_iter().flatten() {
            tell(&self.world, &self.session, "message.part.updated", json!({ "part": part, "time": now() }));
        }
        self.world.changed();
    }

    /// Changes a message's own fields.
    pub fn edit(&self, id: &str, change: impl FnOnce(&mut Value)) {
        let Some(message) = self.with(id, |message| {
            change(&mut message["info"]);
            message.clone()
        }) else {
            return;
        };
        self.machine.store.message(&message);
        tell(&self.world, &self.session, "message.updated", json!({ "info": message["info"] }));
        self.world.changed();
    }

    /// Adds a part with an id of its own, which is returned.
    pub fn add_part(&self, message: &str, mut part: Value) -> String {
        let id = self.world.sessions().new_id("prt");
        part["id"] = json!(id);
        part["messageID"] = json!(message);
        part["sessionID"] = json!(self.session);
        self.set_part(message, part);
        id
    }

    /// Puts a part in place of its earlier version.
    pub fn set_part(&self, message: &str, part: Value) {
        let stored = self.with(message, |message| {
            if let Some(parts) = message["parts"].as_array_mut() {
                match parts.iter_mut().find(|old| old["id"] == part["id"]) {
                    Some(old) => *old = part.clone(),
                    None => parts.push(part.clone()),
                }
            }
            message.clone()
        });
        if let Some(stored) = stored {
            self.machine.store.message(&stored);
        }
        tell(&self.world, &self.session, "message.part.updated", json!({ "part": part, "time": now() }));
        self.world.changed();
    }

    /// Changes a part where it is.
    pub fn edit_part(&self, message: &str, part: &str, change: impl FnOnce(&mut Value)) {
        let found = self.with(message, |message| {
            let parts = message["parts"].as_array()?;
            parts.iter().find(|old| old["id"] == part).cloned()
        });
        if let Some(mut part) = found.flatten() {
            change(&mut part);
            self.set_part(message, part);
        }
    }

    /// Streamed text reaches readers at once and the store only when its part is complete.
    pub fn delta(&self, message: &str, part: &str, delta: &str) {
        self.with(message, |message| {
            let parts = message["parts"].as_array_mut().into_iter().flatten();
            if let Some(Value::String(text)) =
                parts.filter(|old| old["id"] == part).map(|part| &mut part["text"]).next()
            {
                text.push_str(delta);
            }
        });
        let event = json!({ "messageID": message, "partID": part, "field": "text", "delta": delta });
        tell(&self.world, &self.session, "message.part.delta", event);
    }

    fn with<T>(&self, id: &str, change: impl FnOnce(&mut Value) -> T) -> Option<T> {
        let mut sessions = self.world.sessions();
        let message =
            sessions.get_mut(&self.session)?.messages.iter_mut().find(|message| message["info"]["id"] == id)?;
        Some(change(message))
    }
}
