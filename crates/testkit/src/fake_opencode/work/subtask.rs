//! A prompt that calls another agent by itself: the call is made in the model's place, and the model goes on from it.

use super::{super::world::now, Job, text, tools};
use serde_json::{Value, json};

/// The call of a prompt that has one and no answer yet.
pub(super) fn pending<'a>(user: &'a Value, answer: Option<&Value>) -> Option<&'a Value> {
    if answer.is_some_and(|answer| answer["info"]["parentID"] == user["info"]["id"]) {
        return None;
    }
    user["parts"].as_array()?.iter().find(|part| part["type"] == "subtask")
}

pub(super) async fn run(job: &Job, user: &Value, model: &Value, called: &Value) {
    let message = job.begin(user, text(&called["agent"]), model);
    let input = json!({
        "prompt": called["prompt"], "description": called["description"], "subagent_type": called["agent"],
    });
    tools::call_agent(job, &message, &input).await;
    job.edit(&message, |info| {
        info["finish"] = json!("tool-calls");
        info["time"]["completed"] = json!(now());
    });
}
