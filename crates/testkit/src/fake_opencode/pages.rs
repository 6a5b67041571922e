//! The messages of a session, all or page by page from the newest to the oldest.

use super::{routes::Shared, session_routes::missing, shapes};
use axum::{
    Json,
    extract::{Path, Query, State},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use std::collections::HashMap;

pub(super) async fn messages(
    State(world): Shared,
    Path(id): Path<String>,
    Query(query): Query<HashMap<String, String>>,
) -> Response {
    let messages = world.sessions().get(&id).map(|session| session.messages.clone());
    let Some(mut messages) = messages else { return missing(&id) };
    if let Some(before) = query.get("before").and_then(|cursor| read(cursor)) {
        let end = messages.iter().position(|message| message["info"]["id"] == before).unwrap_or(messages.len());
        messages.truncate(end);
    }
    let most = query.get("limit").and_then(|limit| limit.parse().ok()).unwrap_or(usize::MAX);
    let older = messages.len().saturating_sub(most);
    let page = messages.split_off(older);
    // A prompt that was stored with a schema cannot be listed, nor anything that is listed with it.
    let unlistable = page.iter().position(|message| message["info"]["format"]["type"] == "json_schema");
    if let Some(index) = unlistable {
        let refusal = shapes::unlistable(index, &page[index]["info"]["format"]);
        return (StatusCode::BAD_REQUEST, Json(refusal)).into_response();
    }
    match page.first().filter(|_| older > 0) {
        Some(first) => ([("x-next-cursor", cursor(first))], Json(page)).into_response(),
        None => Json(page).into_response(),
    }
}

fn cursor(message: &Value) -> String {
    let info = &message["info"];
    URL_SAFE_NO_PAD.encode(json!({ "id": info["id"], "time": info["time"]["created"] }).to_string())
}

fn read(cursor: &str) -> Option<String> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).ok()?;
    serde_json::from_slice::<Value>(&bytes).ok()?["id"].as_str().map(str::to_owned)
}
