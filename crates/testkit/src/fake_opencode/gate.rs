//! The checks before every endpoint: the record, and the behaviours that do not depend on the request.

use super::{
    behaviour::Serving,
    world::{Moment, Recorded, World},
};
use axum::{
    Json,
    body::{Body, to_bytes},
    extract::{Query, Request, State},
    http::{HeaderMap, StatusCode, Uri, header},
    middleware::Next,
    response::{Html, IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::{collections::HashMap, future::pending, sync::Arc};

const LARGEST_BODY: usize = 64 * 1024 * 1024;

pub(super) async fn gate(State(world): State<Arc<World>>, request: Request, next: Next) -> Response {
    let (head, body) = request.into_parts();
    let Ok(bytes) = to_bytes(body, LARGEST_BODY).await else {
        return StatusCode::PAYLOAD_TOO_LARGE.into_response();
    };
    let directory = head.headers.get("x-opencode-directory").and_then(|value| value.to_str().ok());
    world.record(Recorded {
        method: head.method.to_string(),
        path: head.uri.path().to_owned(),
        query: head.uri.query().map(str::to_owned),
        directory: directory.map(str::to_owned),
        body: serde_json::from_slice(&bytes).unwrap_or(Value::Null),
    });
    if world.wedged() {
        return pending().await;
    }
    match world.behaviour.serving {
        Serving::Html => return page().await,
        Serving::Unauthorized => return unauthorized(),
        Serving::EmptyObjectsAfterCreate if world.reached(Moment::SessionCreated) => {
            return Json(json!({})).into_response();
        }
        Serving::Normal
        | Serving::EmptyObjectsAfterCreate
        | Serving::Wedged
        | Serving::WedgesAfterPrompt
        | Serving::DiesAfterPrompt => {}
    }
    if !authorized(world.behaviour.password.as_deref(), &head.headers, &head.uri) {
        return unauthorized();
    }
    next.run(Request::from_parts(head, Body::from(bytes))).await
}

/// The embedded web UI, which the real server gives for every path that it does not know.
pub(super) async fn page() -> Response {
    Html("<!doctype html><html><title>OpenCode</title></html>").into_response()
}

fn authorized(password: Option<&str>, headers: &HeaderMap, uri: &Uri) -> bool {
    let Some(password) = password else { return true };
    let expected = STANDARD.encode(format!("opencode:{password}"));
    let header = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let query = Query::<HashMap<String, String>>::try_from_uri(uri).ok();
    header.and_then(|value| value.strip_prefix("Basic ")) == Some(&expected)
        || query.is_some_and(|query| query.get("auth_token") == Some(&expected))
}

fn unauthorized() -> Response {
    (StatusCode::UNAUTHORIZED, [(header::WWW_AUTHENTICATE, "Basic realm=\"Secure Area\"")]).into_response()
}
