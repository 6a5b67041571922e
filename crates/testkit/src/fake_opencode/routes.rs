//! The endpoints of the first protocol version that a dispatcher needs.

use super::{
    behaviour::{PermissionReply, Run},
    events, gate, run,
    sessions::Prompt,
    shapes,
    world::{Moment, World},
};
use axum::{
    Json, Router,
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    middleware::from_fn_with_state,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Map, Value, json};
use std::sync::Arc;

type Shared = State<Arc<World>>;

pub(super) fn router(world: Arc<World>) -> Router {
    Router::new()
        .route("/global/health", get(health))
        .route("/global/event", get(async |State(world): Shared| events::stream(world)))
        .route("/global/dispose", post(yes))
        .route("/instance/dispose", post(yes))
        .route("/config/providers", get(config_providers))
        .route("/provider", get(providers))
        .route("/agent", get(async || Json(shapes::agents())))
        .route("/config", get(async || Json(json!({}))))
        .route("/mcp", get(async || Json(json!({}))))
        .route("/command", get(async || Json(json!([]))))
        .route("/session", get(sessions).post(create))
        .route("/session/status", get(status))
        .route("/session/{id}", get(session).delete(delete))
        .route("/session/{id}/children", get(children))
        .route("/session/{id}/message", get(messages).post(message))
        .route("/session/{id}/prompt_async", post(prompt_async))
        .route("/session/{id}/command", post(command))
        .route("/session/{id}/abort", post(abort))
        .route("/permission", get(permissions))
        .route("/permission/{id}/reply", post(reply))
        .route("/question", get(async || Json(json!([]))))
        .route("/question/{id}/reply", post(yes))
        .route("/question/{id}/reject", post(yes))
        .fallback(gate::page)
        .layer(from_fn_with_state(world.clone(), gate::gate))
        .with_state(world)
}

async fn yes() -> Json<bool> {
    Json(true)
}

async fn health(State(world): Shared) -> Json<Value> {
    Json(json!({ "healthy": true, "version": world.behaviour.version }))
}

async fn config_providers(State(world): Shared) -> Json<Value> {
    Json(json!({ "providers": shapes::providers(&world.behaviour), "default": {} }))
}

async fn providers(State(world): Shared) -> Json<Value> {
    let all = shapes::providers(&world.behaviour);
    let connected: Vec<Value> = all.iter().map(|provider| provider["id"].clone()).collect();
    Json(json!({ "all": all, "default": Map::new(), "connected": connected }))
}

async fn sessions(State(world): Shared) -> Json<Value> {
    Json(json!(world.sessions().all()))
}

async fn create(State(world): Shared, headers: HeaderMap, body: Option<Json<Value>>) -> Json<Value> {
    let directory = headers.get("x-opencode-directory").and_then(|value| value.to_str().ok()).unwrap_or("/");
    let body = body.map_or(Value::Null, |Json(body)| body);
    let info = world.sessions().create(directory, &body, &world.behaviour.version);
    run::tell(&world, info["id"].as_str().unwrap_or_default(), "session.created", json!({ "info": info }));
    world.reach(Moment::SessionCreated);
    Json(info)
}

async fn status(State(world): Shared) -> Json<Value> {
    Json(world.sessions().busy())
}

async fn session(State(world): Shared, Path(id): Path<String>) -> Response {
    match world.sessions().get(&id) {
        Some(session) => Json(session.info.clone()).into_response(),
        None => missing(&id),
    }
}

async fn delete(State(world): Shared, Path(id): Path<String>) -> Response {
    let Some(removed) = world.sessions().remove(&id) else { return missing(&id) };
    run::tell(&world, &id, "session.deleted", json!({ "info": removed.info }));
    Json(true).into_response()
}

async fn children(State(world): Shared, Path(id): Path<String>) -> Json<Value> {
    Json(json!(world.sessions().children(&id)))
}

async fn messages(State(world): Shared, Path(id): Path<String>) -> Response {
    match world.sessions().get(&id) {
        Some(session) => Json(json!(session.messages)).into_response(),
        None => missing(&id),
    }
}

async fn prompt_async(State(world): Shared, Path(id): Path<String>, Json(body): Json<Value>) -> Response {
    let text = text_of(&body);
    let Some(prompt) = prompt(&world, &id, &body, text) else { return missing(&id) };
    run::accept(&world, &id, &prompt);
    // The runtime of the fake ends this task with everything else.
    tokio::spawn(run::carry_out(world, id, prompt));
    StatusCode::NO_CONTENT.into_response()
}

async fn message(State(world): Shared, Path(id): Path<String>, Json(body): Json<Value>) -> Response {
    let text = text_of(&body);
    wait_for_answer(world, id, body, text).await
}

async fn command(State(world): Shared, Path(id): Path<String>, Json(mut body): Json<Value>) -> Response {
    let word = |field: &str| body[field].as_str().unwrap_or_default().to_owned();
    let text = format!("/{} {}", word("command"), word("arguments"));
    // Commands name their model in one string, prompts in two.
    if let Some((provider, model)) = word("model").split_once('/') {
        body["model"] = json!({ "providerID": provider, "modelID": model });
    }
    wait_for_answer(world, id, body, text).await
}

async fn wait_for_answer(world: Arc<World>, id: String, body: Value, text: String) -> Response {
    let Some(prompt) = prompt(&world, &id, &body, text) else { return missing(&id) };
    let mut changes = world.subscribe();
    run::accept(&world, &id, &prompt);
    run::carry_out(world.clone(), id.clone(), prompt).await;
    if world.behaviour.run == Run::ErrorWithoutIdle {
        return (StatusCode::INTERNAL_SERVER_ERROR, Json(shapes::unknown_error())).into_response();
    }
    loop {
        let answered = world
            .sessions()
            .get(&id)
            .filter(|session| session.current.is_none())
            .map(|session| session.last_assistant().cloned().unwrap_or(Value::Null));
        if let Some(answer) = answered {
            return Json(answer).into_response();
        }
        if changes.changed().await.is_err() {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
    }
}

/// The abort is answered first; what it brings about comes after, as in the real server.
async fn abort(State(world): Shared, Path(id): Path<String>) -> Json<bool> {
    tokio::spawn(async move { run::abort(&world, &id) });
    Json(true)
}

async fn permissions(State(world): Shared) -> Json<Value> {
    let pending: Vec<Value> = world.sessions().permissions.values().cloned().collect();
    Json(json!(pending))
}

async fn reply(State(world): Shared, Path(id): Path<String>, Json(body): Json<Value>) -> Response {
    if world.behaviour.permission_reply == PermissionReply::Fails {
        return (StatusCode::INTERNAL_SERVER_ERROR, Json(shapes::unknown_error())).into_response();
    }
    if run::reply(&world, &id, &body["reply"]) {
        return Json(true).into_response();
    }
    (StatusCode::NOT_FOUND, Json(json!({ "_tag": "PermissionNotFoundError", "requestID": id }))).into_response()
}

/// Reads a prompt for an existing session; the model defaults to the first one.
fn prompt(world: &World, session: &str, body: &Value, text: String) -> Option<Prompt> {
    let mut sessions = world.sessions();
    sessions.get(session)?;
    let first = world.behaviour.models.first().and_then(|reference| reference.split_once('/'));
    let (provider, model) = first.unwrap_or(("scripted", "alpha"));
    let word = |value: &Value, usual: &str| value.as_str().unwrap_or(usual).to_owned();
    let message = body["messageID"].as_str().map_or_else(|| sessions.new_id("msg"), str::to_owned);
    Some(Prompt {
        message,
        text,
        provider: word(&body["model"]["providerID"], provider),
        model: word(&body["model"]["modelID"], model),
        agent: word(&body["agent"], "build"),
    })
}

fn text_of(body: &Value) -> String {
    let parts = body["parts"].as_array().into_iter().flatten();
    let texts: Vec<&str> = parts.filter_map(|part| part["text"].as_str()).collect();
    texts.join("\n")
}

fn missing(session: &str) -> Response {
    (StatusCode::NOT_FOUND, Json(shapes::not_found(session))).into_response()
}
