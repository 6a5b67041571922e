//! A prompt becomes a user's message, and its session runs until nothing is left to answer.

use super::{
    super::{
        config::Broken,
        instance::Instance,
        machine::Machine,
        run::tell,
        shapes,
        world::{World, now},
    },
    Job, NotBegun, run, text, tools,
};
use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

/// `POST /session/{id}/message`: answers with the last message when the run has ended.
pub(in super::super) async fn prompt(
    world: Arc<World>,
    machine: Arc<Machine>,
    session: String,
    body: Value,
) -> Response {
    let started = match accept(&world, &machine, &session, &body) {
        Ok(started) => started,
        Err(refusal) => return refusal.into_response(),
    };
    match started {
        Started::Stored(message) => Json(message).into_response(),
        Started::Runs(run) => ended(&world, &session, run).await,
    }
}

pub(in super::super) enum Started {
    /// A message that wants no answer.
    Stored(Value),
    /// The run that this prompt started; none when it joined one.
    Runs(Option<JoinHandle<Result<(), NotBegun>>>),
}

/// A prompt that is not accepted.
#[derive(Debug)]
pub(in super::super) struct Refusal(StatusCode, Value);

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.0, Json(self.1)).into_response()
    }
}

/// Waits for the run of a session.
pub(super) async fn ended(world: &World, session: &str, run: Option<JoinHandle<Result<(), NotBegun>>>) -> Response {
    let mut changes = world.subscribe();
    if let Some(run) = run
        && !matches!(run.await, Ok(Ok(())))
    {
        return (StatusCode::INTERNAL_SERVER_ERROR, Json(shapes::unknown_error())).into_response();
    }
    loop {
        let answer = world.sessions().get(session).map(|session| {
            let last = session.last_assistant().cloned().unwrap_or_default();
            session.status.is_none().then_some(last)
        });
        match answer {
            Some(Some(message)) => return Json(message).into_response(),
            None => return (StatusCode::NOT_FOUND, Json(shapes::not_found(session))).into_response(),
            Some(None) => drop(changes.changed().await),
        }
    }
}

/// Stores the prompt and starts its run, or lets the run that is under way find it.
pub(in super::super) fn accept(
    world: &Arc<World>,
    machine: &Arc<Machine>,
    session: &str,
    body: &Value,
) -> Result<Started, Refusal> {
    let info = world.sessions().get(session).map(|session| session.info.clone());
    let Some(info) = info else {
        return Err(Refusal(StatusCode::NOT_FOUND, shapes::not_found(session)));
    };
    let instance = world.instance(machine, text(&info["directory"]));
    let instance = instance.map_err(|Broken(body)| Refusal(StatusCode::BAD_REQUEST, body))?;
    let Some(parts) = body["parts"].as_array() else {
        return Err(Refusal(StatusCode::BAD_REQUEST, shapes::missing_key("parts")));
    };
    let job = Job {
        world: world.clone(),
        machine: machine.clone(),
        instance,
        session: session.to_owned(),
        cancel: CancellationToken::new(),
    };
    let message = user_message(&job, &info, body, parts)?;
    job.put(message.clone());
    if let Some(session) = world.sessions().get_mut(session) {
        session.info["agent"] = message["info"]["agent"].clone();
        let model = &message["info"]["model"];
        let variant = model["variant"].as_str().unwrap_or("default");
        session.info["model"] =
            json!({ "id": model["modelID"], "providerID": model["providerID"], "variant": variant });
        if let Some(tools) = body["tools"].as_object() {
            let action = |wanted: &Value| if *wanted == json!(true) { "allow" } else { "deny" };
            let rule = |(tool, wanted): (&String, &Value)| json!({ "permission": tool, "pattern": "*", "action": action(wanted) });
            session.info["permission"] = tools.iter().map(rule).collect();
        }
    }
    job.tell_session();
    if body["noReply"] == true {
        return Ok(Started::Stored(message));
    }
    if !world.sessions().started(session, &job.cancel) {
        return Ok(Started::Runs(None));
    }
    // The runtime of the fake ends this task with everything else.
    Ok(Started::Runs(Some(tokio::spawn(run(job)))))
}

fn user_message(job: &Job, info: &Value, body: &Value, parts: &[Value]) -> Result<Value, Refusal> {
    let name = body["agent"].as_str().unwrap_or_else(|| job.instance.default_agent());
    let Some(agent) = job.instance.agent(name) else {
        let known: Vec<&str> =
            job.instance.agents.iter().filter(|agent| !agent.hidden).map(|agent| agent.name.as_str()).collect();
        let message = format!("Agent not found: \"{name}\". Available agents: {}", known.join(", "));
        tell(&job.world, &job.session, "session.error", json!({ "error": shapes::unknown(&message) }));
        return Err(Refusal(StatusCode::INTERNAL_SERVER_ERROR, shapes::unknown_error()));
    };
    let explicit = body["model"].is_object().then(|| body["model"].clone());
    let of_agent = agent.model.as_deref().and_then(|model| model.split_once('/'));
    let of_agent = of_agent.map(|(provider, model)| json!({ "providerID": provider, "modelID": model }));
    let earlier = info["model"]
        .is_object()
        .then(|| json!({ "providerID": info["model"]["providerID"], "modelID": info["model"]["id"] }));
    let variant = body["variant"].as_str().map(str::to_owned);
    let variant = variant.or_else(|| agent.variant.clone().filter(|_| explicit.is_none() || explicit == of_agent));
    let mut model = explicit.or(of_agent).or(earlier).unwrap_or_else(|| usual_model(&job.instance));
    if let Some(variant) = variant {
        model["variant"] = json!(variant);
    }
    let last = job.messages().last().map(|message| text(&message["info"]["id"]).to_owned()).unwrap_or_default();
    let id = body["messageID"].as_str().map(str::to_owned);
    let id = id.unwrap_or_else(|| job.world.sessions().new_id_after("msg", &last));
    let mut told = Vec::new();
    for part in parts {
        told.extend(part_of(job, part)?);
    }
    for part in &mut told {
        part["id"] = json!(job.world.sessions().new_id("prt"));
        part["messageID"] = json!(id);
        part["sessionID"] = json!(job.session);
    }
    let mut message = json!({
        "info": {
            "id": id, "sessionID": job.session, "role": "user", "time": { "created": now() }, "agent": name,
            "model": model,
        },
        "parts": told,
    });
    for key in ["system", "format", "tools"] {
        if let Some(value) = body.get(key) {
            message["info"][key] = value.clone();
        }
    }
    Ok(message)
}

fn usual_model(instance: &Instance) -> Value {
    let (provider, model) = instance.default_model();
    json!({ "providerID": provider, "modelID": model })
}

/// A text file is read in the user's name; an image has to be one.
fn part_of(job: &Job, part: &Value) -> Result<Vec<Value>, Refusal> {
    let url = text(&part["url"]);
    if let Some(path) = url.strip_prefix("file://").filter(|_| text(&part["mime"]) == "text/plain") {
        let content = tools::show_file(job, std::path::Path::new(path)).unwrap_or_else(|error| error);
        let called = format!("Called the Read tool with the following input: {{\"filePath\":\"{path}\"}}");
        let spoken = |text: String| json!({ "type": "text", "synthetic": true, "text": text });
        return Ok(vec![spoken(called), spoken(content), part.clone()]);
    }
    if let Some(data) = url.strip_prefix("data:image/png;base64,") {
        let bytes = STANDARD.decode(data).unwrap_or_default();
        let whole = bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.windows(4).any(|window| window == b"IEND");
        if !whole {
            return Err(Refusal(StatusCode::BAD_REQUEST, json!({ "_tag": "BadRequest" })));
        }
    }
    Ok(vec![part.clone()])
}
