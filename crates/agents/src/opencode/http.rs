//! Requests to one OpenCode server: authentication, deadlines, and errors that never carry a body.

use super::broken::broken_configuration;
use crate::web::{install_tls, is_loopback};
use base64::{Engine, engine::general_purpose::STANDARD};
use reqwest::{Method, Url, header};
use secrecy::{ExposeSecret, SecretString};
use serde::{Serialize, de::DeserializeOwned};
use std::{path::Path, time::Duration};

/// Where a server is and how to be let in.
#[derive(Debug, Clone)]
pub struct Endpoint {
    pub url: String,
    pub password: Option<SecretString>,
}

#[derive(Debug, thiserror::Error)]
pub enum ApiError {
    #[error("`{0}` is not a server address: write it like http://127.0.0.1:4096")]
    BadAddress(String),
    #[error("no OpenCode server answers at {0}")]
    Unreachable(String),
    #[error("the OpenCode server at {0} did not answer in time")]
    Deadline(String),
    #[error("the OpenCode server at {0} wants another password")]
    Unauthorized(String),
    #[error("OpenCode does not know {0}")]
    NotFound(String),
    #[error("OpenCode refused {path} with status {status}: {message}")]
    Refused { path: String, status: u16, message: String },
    #[error("OpenCode cannot read {file}: {fault}")]
    Configuration { file: String, fault: String },
    #[error("what answers at {path} is not OpenCode's API")]
    NotOpencode { path: String },
}

impl ApiError {
    /// Whether the server itself is in doubt, not only this one call.
    #[must_use]
    pub fn is_server_lost(&self) -> bool {
        matches!(self, Self::Unreachable(_) | Self::Deadline(_))
    }
}

#[derive(Debug, Clone)]
pub(super) struct Http {
    client: reqwest::Client,
    base: Url,
    authorization: Option<SecretString>,
    directory: Option<String>,
}

impl Http {
    pub(super) fn new(endpoint: &Endpoint) -> Result<Self, ApiError> {
        install_tls();
        let bad = || ApiError::BadAddress(shuntyard_core::values::redact::redact_address(&endpoint.url));
        let mut base = Url::parse(&endpoint.url).map_err(|_| bad())?;
        let inline = base.password().map(|password| SecretString::from(password.to_owned()));
        // A password in the address would be stored and shown with it.
        if base.set_password(None).is_err() || base.set_username("").is_err() {
            return Err(bad());
        }
        if !matches!(base.scheme(), "http" | "https") || base.host_str().is_none() {
            return Err(bad());
        }
        let mut builder = reqwest::Client::builder().connect_timeout(Duration::from_secs(5)).tcp_nodelay(true);
        if is_loopback(&base) {
            // A proxy of the environment does not apply to this machine.
            builder = builder.no_proxy();
        }
        if base.scheme() == "http" {
            // Loading the system's certificates takes longer than a whole local request.
            builder = builder.tls_certs_only(std::iter::empty());
        }
        let client = builder.build().map_err(|_| bad())?;
        let authorization = endpoint.password.as_ref().or(inline.as_ref()).map(|password| {
            let pair = STANDARD.encode(format!("opencode:{}", password.expose_secret()));
            SecretString::from(format!("Basic {pair}"))
        });
        Ok(Self { client, base, authorization, directory: None })
    }

    pub(super) fn in_directory(mut self, directory: &Path) -> Self {
        self.directory = Some(percent_encode(&directory.to_string_lossy()));
        self
    }

    pub(super) fn address(&self) -> String {
        self.base.as_str().trim_end_matches('/').to_owned()
    }

    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str, deadline: Duration) -> Result<T, ApiError> {
        self.json(Method::GET, path, None::<&()>, Some(deadline)).await
    }

    /// A call whose answer is JSON. Without a deadline it waits for as long as the run takes.
    pub(super) async fn json<B: Serialize + Sync, T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
        deadline: Option<Duration>,
    ) -> Result<T, ApiError> {
        let response = self.send(method, path, body, deadline).await?;
        let bytes = response.bytes().await.map_err(|error| self.transport(&error))?;
        // A mistyped path answers 200 with a web page, so what is not JSON is not an answer.
        serde_json::from_slice(&bytes).map_err(|_| ApiError::NotOpencode { path: path.to_owned() })
    }

    /// One page of a listing, with the cursor of the next one.
    pub(super) async fn page<T: DeserializeOwned>(
        &self,
        path: &str,
        deadline: Duration,
    ) -> Result<(T, Option<String>), ApiError> {
        let response = self.send(Method::GET, path, None::<&()>, Some(deadline)).await?;
        let cursor = response.headers().get("x-next-cursor").and_then(|value| value.to_str().ok()).map(str::to_owned);
        let bytes = response.bytes().await.map_err(|error| self.transport(&error))?;
        let page = serde_json::from_slice(&bytes).map_err(|_| ApiError::NotOpencode { path: path.to_owned() })?;
        Ok((page, cursor))
    }

    /// A call whose answer has no content.
    pub(super) async fn empty<B: Serialize + Sync>(
        &self,
        path: &str,
        body: Option<&B>,
        deadline: Duration,
    ) -> Result<(), ApiError> {
        self.send(Method::POST, path, body, Some(deadline)).await.map(|_| ())
    }

    /// An open event stream.
    pub(super) async fn stream(&self, path: &str, connect: Duration) -> Result<reqwest::Response, ApiError> {
        let sending = self.send(Method::GET, path, None::<&()>, None);
        let response =
            tokio::time::timeout(connect, sending).await.map_err(|_| ApiError::Deadline(self.address()))??;
        let kind = response.headers().get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
        if !kind.is_some_and(|kind| kind.starts_with("text/event-stream")) {
            return Err(ApiError::NotOpencode { path: path.to_owned() });
        }
        Ok(response)
    }

    async fn send<B: Serialize + Sync>(
        &self,
        method: Method,
        path: &str,
        body: Option<&B>,
        deadline: Option<Duration>,
    ) -> Result<reqwest::Response, ApiError> {
        let url = self.base.join(path).map_err(|_| ApiError::BadAddress(path.to_owned()))?;
        let mut request = self.client.request(method, url);
        if let Some(authorization) = &self.authorization {
            request = request.header(header::AUTHORIZATION, authorization.expose_secret());
        }
        if let Some(directory) = &self.directory {
            request = request.header("x-opencode-directory", directory);
        }
        if let Some(deadline) = deadline {
            request = request.timeout(deadline);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.map_err(|error| self.transport(&error))?;
        match response.status().as_u16() {
            200..=299 => Ok(response),
            401 => Err(ApiError::Unauthorized(self.address())),
            404 => Err(ApiError::NotFound(path.trim_start_matches('/').to_owned())),
            status => {
                let body: serde_json::Value = response.json().await.unwrap_or_default();
                Err(match broken_configuration(&body) {
                    Some((file, fault)) => ApiError::Configuration { file, fault },
                    None => ApiError::Refused { path: path.to_owned(), status, message: refusal_text(&body) },
                })
            }
        }
    }

    fn transport(&self, error: &reqwest::Error) -> ApiError {
        if error.is_timeout() { ApiError::Deadline(self.address()) } else { ApiError::Unreachable(self.address()) }
    }
}

/// Only the message that is meant for people; the rest of a body may hold keys.
fn refusal_text(body: &serde_json::Value) -> String {
    let message = body.pointer("/data/message").or_else(|| body.pointer("/message"));
    // A file that is quoted may have keys that cannot be distinguished from other words.
    let message =
        message.and_then(serde_json::Value::as_str).filter(|message| !message.contains("--- JSONC Input ---"));
    shuntyard_core::values::redact::redact(message.unwrap_or("no reason given"))
}

fn percent_encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}
