//! `/global/event`, and `/event` for one directory: one `data:` line for each event, no ids and no replay, with the
//! scripted gaps.

use super::{behaviour::Events, world::World};
use axum::{
    body::Body,
    http::header,
    response::{IntoResponse, Response},
};
use futures_util::stream;
use serde_json::{Value, json};
use std::{convert::Infallible, future::pending, sync::Arc};
use tokio::{
    sync::broadcast::{Receiver, error::RecvError},
    time::{Instant, Interval, interval_at},
};

/// Subscribes before it returns, so that nothing after the response headers is missed.
pub(super) fn stream(world: Arc<World>, directory: Option<String>) -> Response {
    let period = world.behaviour.heartbeat;
    let heartbeat = interval_at(Instant::now() + period, period);
    let reader = Reader { bus: world.bus(), world, directory, heartbeat, begun: false, told: 0 };
    let body = Body::from_stream(stream::unfold(reader, Reader::next));
    ([(header::CONTENT_TYPE, "text/event-stream")], body).into_response()
}

struct Reader {
    world: Arc<World>,
    bus: Receiver<Value>,
    /// Of a stream that is about one directory alone.
    directory: Option<String>,
    heartbeat: Interval,
    begun: bool,
    /// Events after `server.connected`.
    told: usize,
}

impl Reader {
    async fn next(mut self) -> Option<(Result<String, Infallible>, Self)> {
        if !self.begun {
            self.begun = true;
            return Some((Ok(self.line(&server_event("server.connected"))), self));
        }
        match self.world.behaviour.events {
            Events::DropEvery(count) if self.told >= count => return None,
            Events::SilentAfter(count) if self.told >= count => pending().await,
            Events::Normal | Events::WithoutFinalIdle | Events::DropEvery(_) | Events::SilentAfter(_) => {}
        }
        let event = self.receive().await?;
        if self.world.wedged() {
            pending::<()>().await;
        }
        self.told += 1;
        Some((Ok(self.line(&event)), self))
    }

    async fn receive(&mut self) -> Option<Value> {
        loop {
            tokio::select! {
                event = self.bus.recv() => match event {
                    Ok(event) if self.withheld(&event) => {}
                    Ok(event) => return Some(event),
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return None,
                },
                _ = self.heartbeat.tick() => return Some(server_event("server.heartbeat")),
            }
        }
    }

    fn withheld(&self, event: &Value) -> bool {
        let payload = &event["payload"];
        if self.directory.as_ref().is_some_and(|directory| event.get("directory").is_some_and(|of| of != directory)) {
            return true;
        }
        let idle = payload["type"] == "session.idle" || payload["properties"]["status"]["type"] == "idle";
        idle && self.world.behaviour.events == Events::WithoutFinalIdle
    }

    fn line(&self, event: &Value) -> String {
        let told = if self.directory.is_some() { &event["payload"] } else { event };
        format!("data: {told}\n\n")
    }
}

fn server_event(kind: &str) -> Value {
    json!({ "payload": { "id": "evt_server", "type": kind, "properties": {} } })
}
