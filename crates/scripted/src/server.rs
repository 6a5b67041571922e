//! The two endpoints. A request is entered in the ledger as soon as it is understood.

use crate::{
    arrival::{Arrival, Choice},
    body::{body, hang, unless_stopped},
    exchange::{Book, Exchange},
    ledger::Ending,
    openai::{self, Request},
    reply::{self, Head, Plan},
    script::Scripts,
};
use axum::{
    Json, Router,
    extract::{DefaultBodyLimit, State},
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post},
    serve::ListenerExt,
};
use bytes::Bytes;
use serde_json::{Value, json};
use shuntyard_core::values::money::Price;
use std::{
    collections::{BTreeMap, BTreeSet},
    future::Future,
    io,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub(crate) const WRONG_KEY: &str = "Incorrect API key provided.";

/// Large enough for a few images in one request.
const LARGEST_REQUEST: usize = 64 * 1024 * 1024;

#[derive(Debug)]
pub(crate) struct Hub {
    setup: Mutex<Setup>,
    pub book: Arc<Book>,
    pub stop: CancellationToken,
}

#[derive(Default)]
pub(crate) struct Setup {
    pub scripts: Scripts,
    pub prices: BTreeMap<String, Price>,
    pub api_key: Option<String>,
}

impl std::fmt::Debug for Setup {
    /// The key must not get into a log through a derived implementation.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Setup").field("scripts", &self.scripts).field("prices", &self.prices).finish_non_exhaustive()
    }
}

impl Hub {
    pub fn new() -> Self {
        Self { setup: Mutex::default(), book: Arc::new(Book::new()), stop: CancellationToken::new() }
    }

    pub fn setup(&self) -> MutexGuard<'_, Setup> {
        self.setup.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Serves until `shutdown` completes and the open answers have ended.
pub(crate) async fn run(
    listener: TcpListener,
    hub: Arc<Hub>,
    shutdown: impl Future<Output = ()> + Send + 'static,
) -> io::Result<()> {
    let router = Router::new()
        .route("/v1/chat/completions", post(complete))
        .route("/v1/models", get(models))
        .fallback(nowhere)
        .layer(DefaultBodyLimit::max(LARGEST_REQUEST))
        .with_state(hub);
    // Small pieces must leave at once; a socket that refuses the option still works.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router).with_graceful_shutdown(shutdown).await
}

async fn nowhere() -> Response {
    failure(StatusCode::NOT_FOUND, "no such endpoint", "invalid_request_error")
}

async fn models(State(hub): State<Arc<Hub>>, headers: HeaderMap) -> Response {
    let setup = hub.setup();
    if !authorized(&setup, &headers) {
        return failure(StatusCode::UNAUTHORIZED, WRONG_KEY, "invalid_request_error");
    }
    let names: BTreeSet<&String> = setup.prices.keys().chain(setup.scripts.model_names()).collect();
    let model = |name: &String| json!({ "id": name, "object": "model", "created": 1, "owned_by": "scripted" });
    let data: Vec<Value> = names.into_iter().map(model).collect();
    Json(json!({ "object": "list", "data": data })).into_response()
}

async fn complete(State(hub): State<Arc<Hub>>, headers: HeaderMap, bytes: Bytes) -> Response {
    let request: Request = match serde_json::from_slice(&bytes) {
        Ok(request) => request,
        Err(error) => {
            let message = format!("the request is not a chat completion: {error}");
            return failure(StatusCode::BAD_REQUEST, &message, "invalid_request_error");
        }
    };
    let arrival = Arrival::new(request, &headers, hub.book.started.elapsed());
    let choice = Choice::of(&arrival, &mut hub.setup(), &headers);
    let gate = choice.step.gate.clone();
    let (exchange, plan) = Exchange::open(hub.book.clone(), hub.stop.clone(), |ordinal| {
        let plan = reply::plan(&choice.step, &arrival.request, &arrival.said, ordinal);
        (arrival.entry(ordinal, choice, &plan), plan)
    });
    if let Some(gate) = gate {
        unless_stopped(&exchange, gate.opened()).await;
    }
    perform(plan, exchange).await
}

async fn perform(plan: Plan, mut exchange: Exchange) -> Response {
    if plan.delay > Duration::ZERO {
        unless_stopped(&exchange, tokio::time::sleep(plan.delay)).await;
    }
    let Head::Send { code, content_type, retry_after } = plan.head else {
        hang(&exchange).await;
        exchange.end(Ending::Broken);
        return failure(StatusCode::SERVICE_UNAVAILABLE, "the hang is over", "server_error");
    };
    exchange.sends_status(code);
    let status = StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let mut response = (status, body(plan.actions, exchange)).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    if let Some(value) = retry_after.and_then(|value| HeaderValue::from_str(&value).ok()) {
        headers.insert(header::RETRY_AFTER, value);
    }
    response
}

pub(crate) fn authorized(setup: &Setup, headers: &HeaderMap) -> bool {
    let given = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    setup.api_key.as_ref().is_none_or(|key| given.and_then(|value| value.strip_prefix("Bearer ")) == Some(key))
}

fn failure(status: StatusCode, message: &str, kind: &str) -> Response {
    (status, Json(openai::error(message, kind))).into_response()
}
