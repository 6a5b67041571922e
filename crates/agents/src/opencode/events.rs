//! One reader of the server's global event stream, shared by everything that runs on the server.
//!
//! The stream has no replay, so each new connection is announced, and a caller that waits for something
//! must then read the state again. A stream without a heartbeat is dead.

use super::{
    client::Client,
    types::{Part, Pending, RunError, RunStatus, ServerEvent},
};
use futures_util::StreamExt;
use serde::Deserialize;
use serde_json::Value;
use sse_stream::SseStream;
use std::{sync::Arc, time::Duration};
use tokio::sync::{broadcast, watch};
use tokio_util::sync::CancellationToken;

const CONNECT: Duration = Duration::from_secs(10);
/// OpenCode sends a heartbeat every ten seconds.
const SILENCE: Duration = Duration::from_secs(25);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// Events that a slow listener may be behind before it has to read the state again.
const BACKLOG: usize = 4096;

#[derive(Debug, Clone)]
pub enum HubEvent {
    /// A connection is open; what happened before it is not known.
    Connected,
    Event(Arc<ServerEvent>),
}

#[derive(Debug)]
pub struct EventHub {
    sender: broadcast::Sender<HubEvent>,
    connected: watch::Receiver<bool>,
    stop: CancellationToken,
    reader: Option<tokio::task::JoinHandle<()>>,
}

impl EventHub {
    #[must_use]
    pub fn start(client: &Client) -> Self {
        let (sender, _) = broadcast::channel(BACKLOG);
        let (announce, connected) = watch::channel(false);
        let stop = CancellationToken::new();
        let reader = tokio::spawn(read_forever(client.clone(), sender.clone(), announce, stop.clone()));
        Self { sender, connected, stop, reader: Some(reader) }
    }

    #[must_use]
    pub fn subscribe(&self) -> broadcast::Receiver<HubEvent> {
        self.sender.subscribe()
    }

    /// Waits for the first connection. False when none came in time; polling then carries the run.
    pub async fn wait_connected(&self, patience: Duration) -> bool {
        let mut connected = self.connected.clone();
        tokio::time::timeout(patience, connected.wait_for(|stands| *stands)).await.is_ok_and(|found| found.is_ok())
    }

    /// Ends the reader and waits for it.
    pub async fn close(mut self) {
        self.stop.cancel();
        if let Some(reader) = self.reader.take() {
            drop(reader.await);
        }
    }
}

impl Drop for EventHub {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn read_forever(
    client: Client,
    sender: broadcast::Sender<HubEvent>,
    announce: watch::Sender<bool>,
    stop: CancellationToken,
) {
    let mut pause = FIRST_PAUSE;
    loop {
        let reading = read_once(&client, &sender, &announce);
        let received_any = tokio::select! {
            () = stop.cancelled() => return,
            received_any = reading => received_any,
        };
        announce.send_replace(false);
        pause = if received_any { FIRST_PAUSE } else { (pause * 2).min(LONGEST_PAUSE) };
        tokio::select! {
            () = stop.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Reads one connection to its end; returns whether it ever delivered anything.
async fn read_once(client: &Client, sender: &broadcast::Sender<HubEvent>, announce: &watch::Sender<bool>) -> bool {
    let response = match client.http().stream("global/event", CONNECT).await {
        Ok(response) => response,
        Err(error) => {
            tracing::debug!(%error, "the event stream did not open");
            return false;
        }
    };
    let mut events = SseStream::from_bytes_stream(response.bytes_stream());
    let mut received_any = false;
    loop {
        match tokio::time::timeout(SILENCE, events.next()).await {
            Err(_) => {
                tracing::debug!("the event stream fell silent");
                return received_any;
            }
            Ok(None | Some(Err(_))) => return received_any,
            Ok(Some(Ok(event))) => {
                if !received_any {
                    received_any = true;
                    announce.send_replace(true);
                    drop(sender.send(HubEvent::Connected));
                }
                if let Some(event) = event.data.as_deref().and_then(parse) {
                    // A missing listener is no error: the stream is kept for the next prompt.
                    drop(sender.send(HubEvent::Event(Arc::new(event))));
                }
            }
        }
    }
}

#[derive(Deserialize)]
struct Envelope {
    payload: Payload,
}

#[derive(Deserialize)]
struct Payload {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default)]
    properties: Value,
}

#[derive(Deserialize)]
struct Properties {
    #[serde(rename = "sessionID")]
    session: Option<String>,
    #[serde(rename = "messageID", default)]
    message: String,
    #[serde(rename = "partID", default)]
    part_id: String,
    #[serde(default)]
    field: String,
    #[serde(default)]
    delta: String,
    part: Option<Part>,
    info: Option<Info>,
    status: Option<RunStatus>,
    error: Option<RunError>,
}

#[derive(Deserialize)]
struct Info {
    #[serde(default)]
    id: String,
    #[serde(default)]
    role: String,
    #[serde(rename = "parentID")]
    parent: Option<String>,
}

/// `None` for what a run has no use for; a shape that we do not know is no reason to fail.
fn parse(data: &str) -> Option<ServerEvent> {
    let Envelope { payload } = serde_json::from_str(data).ok()?;
    let wanted = matches!(
        payload.kind.as_str(),
        "session.created"
            | "session.status"
            | "session.idle"
            | "session.error"
            | "message.updated"
            | "message.part.updated"
            | "message.part.delta"
            | "permission.asked"
            | "question.asked"
    );
    if !wanted {
        return None;
    }
    if matches!(payload.kind.as_str(), "permission.asked" | "question.asked") {
        let pending: Pending = serde_json::from_value(payload.properties).ok()?;
        return Some(if payload.kind == "permission.asked" {
            ServerEvent::PermissionAsked(pending)
        } else {
            ServerEvent::QuestionAsked(pending)
        });
    }
    let found: Properties = serde_json::from_value(payload.properties).ok()?;
    Some(match payload.kind.as_str() {
        "session.created" => {
            let info = found.info?;
            ServerEvent::SessionCreated { session: info.id, parent: info.parent }
        }
        "session.status" => ServerEvent::Status { session: found.session?, status: found.status? },
        "session.idle" => ServerEvent::Idle { session: found.session? },
        "session.error" => ServerEvent::Error { session: found.session, error: found.error? },
        "message.updated" => {
            let info = found.info?;
            ServerEvent::Message { session: found.session?, message: info.id, role: info.role }
        }
        "message.part.updated" => ServerEvent::Part { session: found.session?, part: found.part? },
        _ => ServerEvent::Delta {
            session: found.session?,
            message: found.message,
            part: found.part_id,
            field: found.field,
            delta: found.delta,
        },
    })
}
