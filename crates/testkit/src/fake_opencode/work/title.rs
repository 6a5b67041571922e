//! The title that OpenCode invents for a session without one: one more model call, beside the first answer.

use super::{Job, provider, reading::Reading, request, text};
use serde_json::{Value, json};

/// How the title of a session without one begins.
pub(in super::super) const UNTITLED: &str = "New session - ";
const PROMPT: &str = "You are a title generator. You output ONLY a thread title. Nothing else.";

pub(super) fn begin(job: &Job) {
    let info = job.info();
    let messages = job.messages();
    let [first] = messages.as_slice() else { return };
    if !info["parentID"].is_null() || !text(&info["title"]).starts_with(UNTITLED) {
        return;
    }
    let asked: Vec<&str> =
        first["parts"].as_array().into_iter().flatten().filter_map(|part| part["text"].as_str()).collect();
    let small = job.instance.config.string("small_model").and_then(|name| name.split_once('/'));
    let wanted = &first["info"]["model"];
    let (provider, model) = small.unwrap_or((text(&wanted["providerID"]), text(&wanted["modelID"])));
    let Some(model) = job.instance.catalogue.model(provider, model).cloned() else { return };
    let messages = vec![
        json!({ "role": "system", "content": PROMPT }),
        json!({ "role": "user", "content": "Generate a title for this conversation:\n" }),
        json!({ "role": "user", "content": asked.join("\n") }),
    ];
    // The runtime of the fake ends the task with everything else.
    let body = request::plain(&model, messages);
    tokio::spawn(invent(job.clone(), model, body));
}

async fn invent(job: Job, model: Value, body: Value) {
    let mut reading = Reading::unstored(&job);
    let asked = tokio::select! {
        asked = provider::ask(&job, &model, &body, &mut reading) => asked,
        () = job.cancel.cancelled() => return,
    };
    let title = reading.text().lines().map(str::trim).find(|line| !line.is_empty()).map(str::to_owned);
    let (Ok(()), Some(title)) = (asked, title) else { return };
    if let Some(session) = job.world.sessions().get_mut(&job.session) {
        session.info["title"] = json!(title);
    }
    job.tell_session();
}
