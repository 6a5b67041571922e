//! The server over HTTP, on this machine only. Every request needs the token, and names this server as its host, so
//! that a web page which a browser was lured to cannot reach it.

use super::{server::Server, token::Token, tools::Toolset, yard::Yard};
use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header::AUTHORIZATION},
    middleware::{self, Next},
    response::{IntoResponse, Response},
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use std::{io, net::SocketAddr, sync::Arc, time::Duration};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

pub const PATH: &str = "/mcp";
/// A prompt with its system prompt and schema is far smaller.
const LARGEST_BODY: usize = 4 << 20;
/// A session whose client has disappeared ends after this time.
const IDLE_SESSION: Duration = Duration::from_secs(3600);
/// How long open answers may take to close after the stop.
const CLOSING: Duration = Duration::from_secs(3);

/// Serves until `stop` is cancelled.
pub async fn serve(
    listener: TcpListener,
    yard: Yard,
    tools: Toolset,
    token: Token,
    stop: CancellationToken,
) -> io::Result<()> {
    let address = listener.local_addr()?;
    let mut manager = LocalSessionManager::default();
    manager.session_config.keep_alive = Some(IDLE_SESSION);
    let hosts = own_names(address);
    let config = StreamableHttpServerConfig::default()
        .with_cancellation_token(stop.child_token())
        .with_max_request_body_bytes(LARGEST_BODY)
        .with_allowed_origins(hosts.iter().map(|host| format!("http://{host}")))
        .with_allowed_hosts(hosts)
        .enforce_origin_validation();
    let closing = stop.clone();
    let session = move || Ok(Server::new(yard.clone(), tools, closing.clone()));
    let service = StreamableHttpService::new(session, Arc::new(manager), config);
    let router = Router::new().route_service(PATH, service).layer(middleware::from_fn_with_state(token, admit));
    let finished = axum::serve(listener, router).with_graceful_shutdown(stop.clone().cancelled_owned());
    tokio::select! {
        served = async { finished.await } => served,
        () = async { stop.cancelled().await; tokio::time::sleep(CLOSING).await } => Ok(()),
    }
}

/// What this server may be called in a request.
fn own_names(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    vec![address.to_string(), format!("localhost:{port}")]
}

async fn admit(State(token): State<Token>, request: Request, next: Next) -> Response {
    let authorization = request.headers().get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    if token.admits(authorization) {
        return next.run(request).await;
    }
    let hint = "the token is missing or wrong: send `Authorization: Bearer TOKEN`\n";
    (StatusCode::UNAUTHORIZED, [("www-authenticate", "Bearer")], hint).into_response()
}
