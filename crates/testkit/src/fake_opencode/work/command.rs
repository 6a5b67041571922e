//! A command of the user is a prompt made of its template.

use super::{
    super::{machine::Machine, run::tell, shapes, world::World},
    prompt::prompt,
    text,
};
use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use serde_json::{Value, json};
use std::sync::Arc;

pub(in super::super) async fn command(
    world: Arc<World>,
    machine: Arc<Machine>,
    session: String,
    body: Value,
) -> Response {
    let directory = world.sessions().directory(&session);
    let instance = match world.instance(&machine, &directory) {
        Ok(instance) => instance,
        Err(broken) => return broken.into_response(),
    };
    let commands = instance.commands();
    let name = text(&body["command"]);
    let Some(command) = commands.iter().find(|command| command["name"] == name) else {
        let known: Vec<&str> = commands.iter().map(|command| text(&command["name"])).collect();
        let message = format!("Command not found: \"{name}\". Available commands: {}", known.join(", "));
        tell(&world, &session, "session.error", json!({ "error": shapes::unknown(&message) }));
        return (StatusCode::INTERNAL_SERVER_ERROR, Json(shapes::unknown_error())).into_response();
    };
    let told = filled(text(&command["template"]), text(&body["arguments"]));
    let mut parts = vec![json!({ "type": "text", "text": told })];
    parts.extend(body["parts"].as_array().into_iter().flatten().cloned());
    let mut asked = json!({ "parts": parts });
    for key in ["messageID", "variant"] {
        if let Some(value) = body.get(key) {
            asked[key] = value.clone();
        }
    }
    // The command's own agent and model come before those of the request.
    let either = |key: &str| command[key].as_str().or(body[key].as_str());
    if let Some(agent) = either("agent") {
        asked["agent"] = json!(agent);
    }
    if let Some((provider, model)) = either("model").and_then(|name| name.split_once('/')) {
        asked["model"] = json!({ "providerID": provider, "modelID": model });
    }
    prompt(world, machine, session, asked).await
}

/// `$1` and so on are words, the last of which takes the rest; `$ARGUMENTS` is all of it.
fn filled(template: &str, arguments: &str) -> String {
    let words: Vec<&str> = arguments.split_whitespace().collect();
    let highest = (1..=9).rev().find(|number| template.contains(&format!("${number}")));
    let Some(highest) = highest else {
        if template.contains("$ARGUMENTS") {
            return template.replace("$ARGUMENTS", arguments);
        }
        return if arguments.is_empty() { template.to_owned() } else { format!("{template}\n\n{arguments}") };
    };
    let mut told = template.to_owned();
    for number in (1..=highest).rev() {
        let word = if number == highest {
            words.get(number - 1..).unwrap_or_default().join(" ")
        } else {
            words.get(number - 1).copied().unwrap_or_default().to_owned()
        };
        told = told.replace(&format!("${number}"), &word);
    }
    told.replace("$ARGUMENTS", arguments)
}
