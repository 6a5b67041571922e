//! The effects of a prompt, an abort and a permission reply, each as the behaviour has it.
//!
//! State is changed before its event is published, so that a client that re-reads finds it.

use super::{
    behaviour::{Run, Serving},
    sessions::Prompt,
    shapes,
    world::{Moment, World, now},
};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

/// Time for the answer to the prompt to leave before the server dies.
const LAST_BREATH: Duration = Duration::from_millis(30);

/// Accepts a prompt: the user message is stored and the session is busy.
pub(super) fn accept(world: &World, session: &str, prompt: &Prompt) {
    let message = shapes::user_message(session, prompt, now());
    if let Some(stored) = world.sessions().get_mut(session) {
        stored.store(message.clone());
        stored.current = Some(prompt.clone());
    }
    tell_message(world, session, &message);
    tell(world, session, "session.status", json!({ "status": { "type": "busy" } }));
    world.reach(Moment::Prompted);
}

pub(super) async fn carry_out(world: Arc<World>, session: String, prompt: Prompt) {
    if world.behaviour.serving == Serving::DiesAfterPrompt {
        begin(&world, &session, &prompt);
        tokio::time::sleep(LAST_BREATH).await;
        world.die();
        return;
    }
    match world.behaviour.run.clone() {
        // Only a process executes work, and by other code.
        Run::Works | Run::Answers => answer(&world, &session, &prompt, &format!("ok: {}", prompt.text)),
        Run::IgnoresModel { provider, model } => {
            let other = Prompt { provider, model, ..prompt };
            answer(&world, &session, &other, &format!("ok: {}", other.text));
        }
        Run::NeverFinishes | Run::FinishesAfterAbort => {
            begin(&world, &session, &prompt);
        }
        Run::ErrorWithoutIdle => {
            rest(&world, &session);
            let data = json!({ "message": "Agent not found: \"nobody\". Available agents: build, plan" });
            tell(&world, &session, "session.error", json!({ "error": { "name": "UnknownError", "data": data } }));
            world.changed();
        }
        Run::AsksInChild => ask_in_child(&world, &session, &prompt),
    }
}

/// Ends the current prompt, if there is one.
pub(super) fn abort(world: &World, session: &str) {
    let current = world.sessions().get(session).and_then(|session| session.current.clone());
    let Some(prompt) = current else { return };
    if world.behaviour.run == Run::FinishesAfterAbort {
        return answer(world, session, &prompt, "late answer");
    }
    let mut message = begin(world, session, &prompt);
    message["info"]["error"] = shapes::aborted_error();
    message["info"]["time"]["completed"] = json!(now());
    let children = {
        let mut sessions = world.sessions();
        if let Some(stored) = sessions.get_mut(session) {
            stored.store(message.clone());
        }
        sessions.children(session)
    };
    tell_message(world, session, &message);
    tell(world, session, "session.error", json!({ "error": shapes::aborted_error() }));
    for child in children.iter().filter_map(|info| info["id"].as_str()) {
        world.sessions().permissions.retain(|_, permission| permission["sessionID"] != child);
        end(world, child);
    }
    end(world, session);
}

/// Answers a pending permission; false when there is none of that id.
pub(super) fn reply(world: &World, permission: &str, reply: &Value) -> bool {
    let Some(request) = world.sessions().permissions.remove(permission) else { return false };
    let child = request["sessionID"].as_str().unwrap_or_default();
    tell(world, child, "permission.replied", json!({ "requestID": permission, "reply": reply }));
    let (parent, prompt) = {
        let sessions = world.sessions();
        let parent =
            sessions.get(child).and_then(|child| child.info["parentID"].as_str()).unwrap_or_default().to_owned();
        let prompt = sessions.get(&parent).and_then(|parent| parent.current.clone());
        (parent, prompt)
    };
    end(world, child);
    if let Some(prompt) = prompt {
        answer(world, &parent, &prompt, &format!("ok: {}", prompt.text));
    }
    true
}

fn ask_in_child(world: &World, session: &str, prompt: &Prompt) {
    let message = begin(world, session, prompt);
    let directory = world.sessions().directory(session);
    let (info, child, permission) = {
        let mut sessions = world.sessions();
        let body = json!({ "parentID": session, "title": "child" });
        let info = sessions.create(&directory, &body, &world.behaviour.version);
        let child = info["id"].as_str().unwrap_or_default().to_owned();
        if let Some(stored) = sessions.get_mut(&child) {
            stored.current = Some(prompt.clone());
        }
        let id = sessions.new_id("per");
        let permission = shapes::permission(&id, &child, message["info"]["id"].as_str().unwrap_or_default());
        sessions.permissions.insert(id, permission.clone());
        (info, child, permission)
    };
    tell(world, &child, "session.created", json!({ "info": info }));
    tell(world, &child, "session.status", json!({ "status": { "type": "busy" } }));
    tell(world, &child, "permission.asked", permission);
}

/// Starts the assistant's message, or finds the one that was started.
fn begin(world: &World, session: &str, prompt: &Prompt) -> Value {
    let message = {
        let mut sessions = world.sessions();
        let directory = sessions.directory(session);
        let id = sessions.new_id("msg");
        let Some(stored) = sessions.get_mut(session) else { return Value::Null };
        let begun = stored.last_assistant().filter(|message| message["info"]["parentID"] == prompt.message).cloned();
        if let Some(begun) = begun {
            return begun;
        }
        let message = shapes::assistant_message(session, &id, prompt, &directory, now());
        stored.store(message.clone());
        message
    };
    tell_message(world, session, &message);
    message
}

fn answer(world: &World, session: &str, prompt: &Prompt, text: &str) {
    let mut message = begin(world, session, prompt);
    if message.is_null() {
        return;
    }
    shapes::complete(&mut message, text, now());
    let info = {
        let mut sessions = world.sessions();
        let Some(stored) = sessions.get_mut(session) else { return };
        stored.store(message.clone());
        stored.charge(&message["info"]);
        stored.info.clone()
    };
    let (id, part) = (&message["info"]["id"], &message["parts"][1]["id"]);
    let delta = json!({ "messageID": id, "partID": part, "field": "text", "delta": text });
    tell(world, session, "message.part.delta", delta);
    tell_message(world, session, &message);
    tell(world, session, "session.updated", json!({ "info": info }));
    end(world, session);
}

/// Makes a session idle and sends the event for it, twice as the real server does.
fn end(world: &World, session: &str) {
    rest(world, session);
    tell(world, session, "session.status", json!({ "status": { "type": "idle" } }));
    tell(world, session, "session.idle", json!({}));
    world.changed();
}

fn rest(world: &World, session: &str) {
    if let Some(stored) = world.sessions().get_mut(session) {
        stored.current = None;
    }
}

fn tell_message(world: &World, session: &str, message: &Value) {
    tell(world, session, "message.updated", json!({ "info": message["info"] }));
    for part in message["parts"].as_array().into_iter().flatten() {
        tell(world, session, "message.part.updated", json!({ "part": part, "time": now() }));
    }
}

/// Publishes an event about a session, in the session's own directory.
pub(super) fn tell(world: &World, session: &str, kind: &str, mut properties: Value) {
    properties["sessionID"] = json!(session);
    let directory = world.sessions().directory(session);
    world.publish(&directory, kind, properties);
}
