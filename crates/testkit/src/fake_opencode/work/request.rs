//! The body of a request to a provider.

use super::{super::agents::Agent, Job, history, system, text, tools};
use serde_json::{Map, Value, json};

/// The output limit of a model that has none in its description.
const USUAL_OUTPUT: u64 = 32_000;

pub(super) fn body(job: &Job, agent: &Agent, user: &Value, model: &Value, offered: &[String]) -> Value {
    let mut messages = vec![json!({ "role": "system", "content": system::prompt(job, agent, user, model) })];
    messages.extend(history::messages(&job.messages(), model));
    let mut body = plain(model, messages);
    let variant = user["info"]["model"]["variant"].as_str().and_then(|name| model["variants"].get(name));
    for options in [Some(&model["options"]), Some(&Value::Object(agent.options.clone())), variant].into_iter().flatten()
    {
        extend(&mut body, options.as_object());
    }
    if let Some(temperature) = agent.temperature.filter(|_| model["capabilities"]["temperature"] == true) {
        body["temperature"] = json!(temperature);
    }
    if !offered.is_empty() {
        body["tools"] = offered.iter().map(|name| tools::definition(name, user)).collect();
        let required = user["info"]["format"]["type"] == "json_schema";
        body["tool_choice"] = json!(if required { "required" } else { "auto" });
    }
    body
}

/// A request without tools and options.
pub(super) fn plain(model: &Value, messages: Vec<Value>) -> Value {
    let most = model["limit"]["output"].as_u64().filter(|most| *most > 0).unwrap_or(USUAL_OUTPUT).min(USUAL_OUTPUT);
    json!({
        "model": text(&model["api"]["id"]), "max_tokens": most, "messages": messages, "stream": true,
        "stream_options": { "include_usage": true },
    })
}

/// Some options have another name on the wire.
fn extend(body: &mut Value, options: Option<&Map<String, Value>>) {
    for (name, value) in options.into_iter().flatten() {
        let name = match name.as_str() {
            "reasoningEffort" => "reasoning_effort",
            "textVerbosity" => "verbosity",
            other => other,
        };
        body[name] = value.clone();
    }
}
