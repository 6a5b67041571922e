//! What the fake knows: its behaviour, its sessions, its event bus and the requests it received.

use super::{
    behaviour::{Behaviour, Serving},
    config::Broken,
    instance::{Instance, Instances},
    machine::Machine,
    sessions::Sessions,
};
use serde_json::{Value, json};
use std::{
    path::Path,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{SystemTime, UNIX_EPOCH},
};
use tokio::sync::{broadcast, watch};

/// One request, as it arrived.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    pub method: String,
    pub path: String,
    pub query: Option<String>,
    /// The `x-opencode-directory` header.
    pub directory: Option<String>,
    /// Null when there was no JSON body.
    pub body: Value,
}

impl Recorded {
    #[must_use]
    pub fn is(&self, method: &str, path: &str) -> bool {
        self.method == method && self.path == path
    }
}

/// How far the conversation with the client has come; some behaviours wait for a moment of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Moment {
    Fresh,
    SessionCreated,
    Prompted,
    Dead,
}

#[derive(Debug)]
pub(super) struct World {
    pub behaviour: Behaviour,
    /// None in a test's own process, where no configuration is read.
    pub machine: Option<Arc<Machine>>,
    pub instances: Instances,
    sessions: Mutex<Sessions>,
    requests: Mutex<Vec<Recorded>>,
    bus: broadcast::Sender<Value>,
    moment: watch::Sender<Moment>,
    /// Moves whenever a request arrives or a session changes.
    changes: watch::Sender<u64>,
}

impl World {
    pub fn new(behaviour: Behaviour) -> Self {
        Self {
            behaviour,
            machine: None,
            instances: Instances::default(),
            sessions: Mutex::default(),
            requests: Mutex::default(),
            bus: broadcast::Sender::new(16 * 1024),
            moment: watch::Sender::new(Moment::Fresh),
            changes: watch::Sender::new(0),
        }
    }

    /// With the sessions that the machine has stored.
    pub fn on(machine: Machine, behaviour: Behaviour) -> Self {
        let world = Self::new(behaviour);
        world.sessions().restore(machine.store.load());
        Self { machine: Some(Arc::new(machine)), ..world }
    }

    pub fn instance(&self, machine: &Machine, directory: &str) -> Result<Arc<Instance>, Broken> {
        self.instances.get(machine, Path::new(directory))
    }

    pub fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records nothing in a process of its own: no test can read it there, and the process runs for long.
    pub fn record(&self, request: Recorded) {
        if self.machine.is_some() {
            return;
        }
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).push(request);
        self.changed();
    }

    pub fn requests(&self) -> Vec<Recorded> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    pub fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    pub fn changed(&self) {
        self.changes.send_modify(|version| *version += 1);
    }

    pub fn bus(&self) -> broadcast::Receiver<Value> {
        self.bus.subscribe()
    }

    pub fn publish(&self, directory: &str, kind: &str, properties: Value) {
        let id = self.sessions().new_id("evt");
        let payload = json!({ "id": id, "type": kind, "properties": properties });
        // Without a listener the event is lost, as it is with the real server.
        drop(self.bus.send(json!({ "directory": directory, "project": "global", "payload": payload })));
    }

    /// Moments only move forward.
    pub fn reach(&self, moment: Moment) {
        self.moment.send_modify(|now| *now = moment.max(*now));
    }

    pub fn reached(&self, moment: Moment) -> bool {
        *self.moment.borrow() >= moment
    }

    pub fn die(&self) {
        self.reach(Moment::Dead);
    }

    pub async fn dead(&self) {
        let mut moment = self.moment.subscribe();
        // The sender is in this world, so the wait cannot fail.
        drop(moment.wait_for(|now| *now == Moment::Dead).await);
    }

    pub fn wedged(&self) -> bool {
        match self.behaviour.serving {
            Serving::Wedged => true,
            Serving::WedgesAfterPrompt => self.reached(Moment::Prompted),
            Serving::Normal
            | Serving::EmptyObjectsAfterCreate
            | Serving::Html
            | Serving::DiesAfterPrompt
            | Serving::Unauthorized => false,
        }
    }
}

/// Milliseconds of the epoch, as OpenCode writes times.
pub(super) fn now() -> u64 {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}
