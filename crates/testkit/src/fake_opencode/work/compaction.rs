//! A conversation that is too long is summed up by the model, and the run goes on from the summary.

use super::{
    super::{run::tell, shapes, world::now},
    Flow, Job, history, provider,
    reading::Reading,
    request, text,
};
use serde_json::{Value, json};

const PROMPT: &str = "You are a context summarization agent. You summarize conversations so that another can go on.";
const ASK: &str = "Summarize our conversation above, so that the work can go on from the summary alone.";
const GO_ON: &str =
    "Continue if you have next steps, or stop and ask for clarification if you are unsure how to proceed.";

pub(super) async fn compact(job: &Job, user: &Value, model: &Value) -> Flow {
    let asked = add_user(job, user, json!({ "type": "compaction", "auto": true }));
    let message = job.begin(&asked, "compaction", model);
    job.edit(&message, |info| info["summary"] = json!(true));
    let mut messages = vec![json!({ "role": "system", "content": PROMPT })];
    messages.extend(history::messages(&job.messages(), model));
    messages.push(json!({ "role": "user", "content": ASK }));
    let body = request::plain(model, messages);
    let mut reading = Reading::new(job, &message);
    let outcome = tokio::select! {
        outcome = provider::ask(job, model, &body, &mut reading) => outcome,
        () = job.cancel.cancelled() => return Flow::Stop,
    };
    reading.close();
    if let Err(failure) = outcome {
        let error = shapes::overflow(&failure.message);
        tell(&job.world, &job.session, "session.error", json!({ "error": error }));
        job.edit(&message, |info| {
            info["error"] = error;
            info["time"]["completed"] = json!(now());
        });
        return Flow::Stop;
    }
    let (tokens, cost) = reading.into_answer().bill(&model["cost"]);
    if let Some(session) = job.world.sessions().get_mut(&job.session) {
        session.charge(&json!({ "cost": cost, "tokens": tokens }));
    }
    job.edit(&message, |info| {
        info["cost"] = json!(cost);
        info["tokens"] = tokens;
        info["finish"] = json!("stop");
        info["time"]["completed"] = json!(now());
    });
    tell(&job.world, &job.session, "session.compacted", json!({}));
    add_user(job, user, json!({ "type": "text", "synthetic": true, "text": GO_ON }));
    Flow::Continue
}

/// A message that OpenCode itself writes in the user's place.
fn add_user(job: &Job, user: &Value, mut part: Value) -> Value {
    let last = job.messages().last().map(|message| text(&message["info"]["id"]).to_owned()).unwrap_or_default();
    let (id, part_id) = {
        let mut sessions = job.world.sessions();
        (sessions.new_id_after("msg", &last), sessions.new_id("prt"))
    };
    part["id"] = json!(part_id);
    part["messageID"] = json!(id);
    part["sessionID"] = json!(job.session);
    let mut info = user["info"].clone();
    info["id"] = json!(id);
    info["time"] = json!({ "created": now() });
    let message = json!({ "info": info, "parts": [part] });
    job.put(message.clone());
    message
}
