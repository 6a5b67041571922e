//! The endpoints of sessions: made, listed, prompted, aborted and deleted.

use super::{
    behaviour::Run,
    config::Broken,
    pages,
    place::Directory,
    routes::Shared,
    run,
    sessions::Prompt,
    shapes, work,
    world::{Moment, World},
};
use axum::{
    Json, Router,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
    routing::{get, post},
};
use serde_json::{Value, json};
use std::{collections::HashMap, sync::Arc};

pub(super) fn router() -> Router<Arc<World>> {
    Router::new()
        .route("/session", get(sessions).post(create))
        .route("/session/status", get(status))
        .route("/session/{id}", get(session).delete(delete).patch(patch))
        .route("/session/{id}/children", get(children))
        .route("/session/{id}/message", get(pages::messages).post(message))
        .route("/session/{id}/prompt_async", post(prompt_async))
        .route("/session/{id}/command", post(command))
        .route("/session/{id}/abort", post(abort))
}

async fn sessions(
    State(world): Shared,
    directory: Directory,
    Query(query): Query<HashMap<String, String>>,
) -> Result<Json<Value>, Broken> {
    let place = directory.instance(&world)?.map(|instance| instance.directory.to_string_lossy().into_owned());
    let wanted = |info: &Value| {
        let named = query.get("search").is_none_or(|text| {
            info["title"].as_str().unwrap_or_default().to_lowercase().contains(&text.to_lowercase())
        });
        named && place.as_ref().is_none_or(|place| info["directory"] == *place)
    };
    let most = query.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX);
    Ok(Json(world.sessions().all().into_iter().filter(wanted).take(most).collect()))
}

async fn create(State(world): Shared, directory: Directory, body: Option<Json<Value>>) -> Result<Json<Value>, Broken> {
    let instance = directory.instance(&world)?;
    let mut body = body.map_or_else(|| json!({}), |Json(body)| body);
    let place = instance.as_ref().map(|instance| instance.directory.to_string_lossy().into_owned());
    let place = place.unwrap_or_else(|| directory.or_root().to_owned());
    if instance.is_some() && !body["title"].is_string() {
        body["title"] = json!(format!("{}{}", work::UNTITLED, jiff::Timestamp::now()));
    }
    let info = world.sessions().create(&place, &body, &world.behaviour.version);
    if let Some(machine) = &world.machine {
        machine.store.session(&info);
    }
    run::tell(&world, info["id"].as_str().unwrap_or_default(), "session.created", json!({ "info": info }));
    world.reach(Moment::SessionCreated);
    Ok(Json(info))
}

async fn status(State(world): Shared, directory: Directory) -> Result<Json<Value>, Broken> {
    let place = directory.instance(&world)?.map(|instance| instance.directory.to_string_lossy().into_owned());
    Ok(Json(world.sessions().busy(place.as_deref())))
}

async fn session(State(world): Shared, Path(id): Path<String>) -> Response {
    match world.sessions().get(&id) {
        Some(session) => Json(session.info.clone()).into_response(),
        None => missing(&id),
    }
}

async fn patch(State(world): Shared, Path(id): Path<String>, Json(body): Json<Value>) -> Response {
    let info = world.sessions().get_mut(&id).map(|session| {
        if let Some(title) = body["title"].as_str() {
            session.info["title"] = json!(title);
        }
        if !body["time"]["archived"].is_null() {
            session.info["time"]["archived"] = body["time"]["archived"].clone();
        }
        session.info.clone()
    });
    let Some(info) = info else { return missing(&id) };
    if let Some(machine) = &world.machine {
        machine.store.session(&info);
    }
    run::tell(&world, &id, "session.updated", json!({ "info": info }));
    Json(info).into_response()
}

/// What runs in the session goes on.
async fn delete(State(world): Shared, Path(id): Path<String>) -> Response {
    let directory = world.sessions().directory(&id);
    let Some(removed) = world.sessions().remove(&id) else { return missing(&id) };
    if let Some(machine) = &world.machine {
        machine.store.deleted(&id);
    }
    world.publish(&directory, "session.deleted", json!({ "sessionID": id, "info": removed.info }));
    Json(true).into_response()
}

async fn children(State(world): Shared, Path(id): Path<String>) -> Json<Value> {
    Json(json!(world.sessions().children(&id)))
}

async fn prompt_async(State(world): Shared, Path(id): Path<String>, Json(body): Json<Value>) -> Response {
    if let Some(machine) = &world.machine {
        return match work::accept(&world, machine, &id, &body) {
            Ok(_) => StatusCode::NO_CONTENT.into_response(),
            Err(refusal) => refusal.into_response(),
        };
    }
    let text = text_of(&body);
    let Some(prompt) = prompt(&world, &id, &body, text) else { return missing(&id) };
    run::accept(&world, &id, &prompt);
    // The runtime of the fake ends this task with everything else.
    tokio::spawn(run::carry_out(world, id, prompt));
    StatusCode::NO_CONTENT.into_response()
}

async fn message(State(world): Shared, Path(id): Path<String>, Json(body): Json<Value>) -> Response {
    if let Some(machine) = world.machine.clone() {
        return work::prompt(world, machine, id, body).await;
    }
    let text = text_of(&body);
    wait_for_answer(world, id, body, text).await
}

async fn command(State(world): Shared, Path(id): Path<String>, Json(mut body): Json<Value>) -> Response {
    if let Some(machine) = world.machine.clone() {
        return work::command(world, machine, id, body).await;
    }
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

/// The abort is answered first; its effects come after, as in the real server.
async fn abort(State(world): Shared, Path(id): Path<String>) -> Json<bool> {
    if world.machine.is_some() {
        world.sessions().cancel(&id);
    } else {
        tokio::spawn(async move { run::abort(&world, &id) });
    }
    Json(true)
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

pub(super) fn missing(session: &str) -> Response {
    (StatusCode::NOT_FOUND, Json(shapes::not_found(session))).into_response()
}
