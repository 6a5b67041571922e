//! One request and its answer: sent, refused or listened to.

use super::{
    again::Trouble,
    complaint::Complaint,
    heard::Stage,
    listen::{Halt, Listening, refusal},
    provider::{Provider, host_of},
    retry_after::asked_wait,
};
use reqwest::{
    RequestBuilder, Response, Url,
    header::{CONTENT_TYPE, LOCATION},
};
use shuntyard_core::ErrorClass;
use std::{
    error::Error,
    time::{Duration, SystemTime},
};

/// The status is all that counts; its reason is worth a moment, and not a book.
const REASON_FOLLOWS: Duration = Duration::from_secs(5);
const LONGEST_REASON: usize = 64 * 1024;

pub(super) async fn exchange(request: RequestBuilder, body: Vec<u8>, listening: Listening<'_>) -> Result<(), Halt> {
    let provider = listening.provider;
    let request = request.headers(provider.headers().clone()).header(CONTENT_TYPE, "application/json").body(body);
    listening.heard.stage = Stage::Sent;
    let sent = listening.clock.within(request.send()).await?;
    let response = sent.map_err(|error| {
        listening.heard.stage = Stage::Nothing;
        unsent(provider, &error)
    })?;
    if response.status().is_success() {
        listening.heard.stage = Stage::Answering;
        return listening.listen(response).await;
    }
    listening.heard.stage = Stage::Nothing;
    Err(Halt::Trouble(listening.clock.within(refused(provider, response)).await?))
}

async fn refused(provider: &Provider, mut response: Response) -> Trouble {
    let status = response.status().as_u16();
    if response.status().is_redirection() {
        // The key belongs to this host and to no other.
        let target = response.headers().get(LOCATION).and_then(|to| to.to_str().ok());
        let target = target.and_then(|to| Url::parse(to).ok()).map(|url| format!(" to {}", host_of(&url)));
        let (host, target) = (provider.host(), target.unwrap_or_default());
        let message = format!("{host} sends us on{target} (status {status}), and redirects are not followed");
        return Trouble::lasting(ErrorClass::ServerError, message);
    }
    let wait = asked_wait(response.headers(), SystemTime::now());
    let mut reason = Vec::new();
    // A reason that never ends is cut: the status is there already.
    drop(tokio::time::timeout(REASON_FOLLOWS, read_reason(&mut response, &mut reason)).await);
    refusal(provider, Complaint::in_refusal(status, &reason)).with_wait(wait)
}

async fn read_reason(response: &mut Response, reason: &mut Vec<u8>) {
    while reason.len() < LONGEST_REASON
        && let Ok(Some(bytes)) = response.chunk().await
    {
        let room = LONGEST_REASON - reason.len();
        reason.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

fn unsent(provider: &Provider, error: &reqwest::Error) -> Trouble {
    let host = provider.host();
    let cause = provider.presentable(&root_cause(error));
    let message = if error.is_connect() {
        format!("no connection to {host}: {cause}")
    } else {
        format!("{host} ended the connection before it answered: {cause}")
    };
    Trouble::passing(ErrorClass::Network, message)
}

/// The deepest reason; those around it name the address, which may hold a key.
fn root_cause(error: &reqwest::Error) -> String {
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(deeper) = cause.and_then(Error::source) {
        cause = Some(deeper);
    }
    cause.map_or_else(|| "no reason given".to_owned(), ToString::to_string)
}
