//! One request to a provider of the OpenAI kind, and the classes of its failures.

use super::{Job, reading::Reading, text};
use futures_util::StreamExt;
use reqwest::{Response, header::HeaderMap};
use serde_json::{Map, Value, json};
use std::time::{Duration, SystemTime};

const AGENT: &str = "opencode/1.18.33 ai-sdk/provider-utils/4.0.23 runtime/bun/1.3.14";

#[derive(Debug, Clone)]
pub(super) struct Failure {
    name: &'static str,
    pub message: String,
    pub retryable: bool,
    pub retry_after: Option<Duration>,
    /// What a refusal adds: status, headers, body and address.
    details: Map<String, Value>,
}

impl Failure {
    pub fn transport(message: impl Into<String>) -> Self {
        Self { name: "APIError", message: message.into(), retryable: true, retry_after: None, details: Map::new() }
    }

    /// An error in the middle of an answer. Only those whose text suggests a temporary failure are retried.
    pub fn in_stream(error: &Value) -> Self {
        let kind = text(&error["type"]);
        let passes = ["server_error", "overloaded", "rate_limit"].iter().any(|known| kind.contains(known));
        Self { name: "UnknownError", retryable: passes, ..Self::transport(error.to_string()) }
    }

    /// As messages and events carry it.
    pub fn json(&self) -> Value {
        let mut data = json!({ "message": self.message, "isRetryable": self.retryable });
        if let Some(fields) = data.as_object_mut() {
            fields.extend(self.details.clone());
        }
        json!({ "name": self.name, "data": data })
    }
}

/// Sends a request and reads its answer to the end.
pub(super) async fn ask(job: &Job, model: &Value, body: &Value, reading: &mut Reading<'_>) -> Result<(), Failure> {
    let provider = job.instance.catalogue.provider(text(&model["providerID"])).cloned().unwrap_or_default();
    let options = &provider["options"];
    let base = options["baseURL"].as_str().filter(|url| !url.is_empty()).unwrap_or_else(|| text(&model["api"]["url"]));
    let url = format!("{}/chat/completions", expanded(base, job).trim_end_matches('/'));
    let mut request = job.machine.http.post(&url).header("user-agent", AGENT).json(body);
    request = request.header("x-session-id", &job.session).header("x-session-affinity", &job.session);
    let key = options["apiKey"].as_str().or(provider["key"].as_str()).filter(|key| !key.is_empty());
    if let Some(key) = key {
        request = request.bearer_auth(key);
    }
    for headers in [&options["headers"], &model["headers"]] {
        for (name, value) in headers.as_object().into_iter().flatten() {
            request = request.header(name, text(value));
        }
    }
    let unreachable =
        |_| Failure::transport("Cannot connect to API: Unable to connect. Is the computer able to access the url?");
    let response = request.send().await.map_err(unreachable)?;
    if !response.status().is_success() {
        return Err(refusal(response, &url).await);
    }
    reading.started();
    let mut pieces = response.bytes_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|_| Failure::transport("Connection reset by server"))?;
        reading.take(&piece)?;
    }
    Ok(())
}

async fn refusal(response: Response, url: &str) -> Failure {
    let status = response.status();
    let headers = response.headers().clone();
    let body = response.text().await.unwrap_or_default();
    let parsed: Value = serde_json::from_str(&body).unwrap_or_default();
    let told = parsed["error"]["message"].as_str().or(parsed["message"].as_str());
    let usual = status.canonical_reason().unwrap_or_default();
    let message = match told {
        Some(message) => message.to_owned(),
        None if body.is_empty() => usual.to_owned(),
        None => format!("{usual}: {body}"),
    };
    let shown: Map<String, Value> =
        headers.iter().map(|(name, value)| (name.to_string(), json!(value.to_str().unwrap_or_default()))).collect();
    let code = status.as_u16();
    let details = json!({
        "statusCode": code, "responseHeaders": shown, "responseBody": body, "metadata": { "url": url },
    });
    Failure {
        name: "APIError",
        message,
        retryable: matches!(code, 408 | 409 | 429) || code >= 500,
        retry_after: retry_after(&headers),
        details: details.as_object().cloned().unwrap_or_default(),
    }
}

/// In milliseconds, in seconds, or as a date.
fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(millis) = text("retry-after-ms").and_then(|text| text.parse().ok()) {
        return Some(Duration::from_millis(millis));
    }
    let told = text("retry-after")?;
    if let Ok(seconds) = told.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let zoned = jiff::fmt::rfc2822::parse(told).ok()?;
    SystemTime::from(zoned.timestamp()).duration_since(SystemTime::now()).ok()
}

/// `${NAME}` in the address of a catalogue is a variable.
fn expanded(address: &str, job: &Job) -> String {
    let (mut out, mut rest) = (String::new(), address);
    while let Some((before, after)) = rest.split_once("${") {
        let Some((name, behind)) = after.split_once('}') else { break };
        out.push_str(before);
        out.push_str(job.machine.variable(name).unwrap_or_default());
        rest = behind;
    }
    out + rest
}
