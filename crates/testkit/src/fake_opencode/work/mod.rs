//! Real work: a prompt is answered by the configured provider, step by step, and tools are executed.
//!
//! A run belongs to its session, not to the request that started it: a client that goes away does not end it.

mod command;
mod compaction;
mod history;
mod message;
mod permission;
mod prompt;
mod provider;
mod reading;
mod request;
mod retry;
mod step;
mod subtask;
mod system;
mod title;
mod tools;

pub(super) use command::command;
pub(super) use permission::{Reply, reply};
pub(super) use prompt::{accept, prompt};
pub(super) use title::UNTITLED;

use super::{instance::Instance, machine::Machine, run::tell, shapes, world::World};
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};
use tokio_util::sync::CancellationToken;

/// OpenCode takes longer than this from one step to the next. Without it a client that counts steps would always come
/// too late.
const BETWEEN_STEPS: Duration = Duration::from_millis(25);

/// One run of one session.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub world: Arc<World>,
    pub machine: Arc<Machine>,
    pub instance: Arc<Instance>,
    pub session: String,
    pub cancel: CancellationToken,
}

/// What follows a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    /// The conversation is read again.
    Continue,
    /// The model is asked once more.
    Again,
    Stop,
    /// The conversation is too long.
    Compact,
}

/// The run could not begin; the cause went out as an event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NotBegun;

/// Runs a session until nothing is left to answer. The caller has marked it as running.
pub(super) async fn run(job: Job) -> Result<(), NotBegun> {
    title::begin(&job);
    let outcome = loop {
        let outcome = turns(&job).await;
        // A prompt that came in at the last moment is answered too.
        let ended = outcome.is_err() || job.cancel.is_cancelled();
        if job.world.sessions().stopped(&job.session, ended) {
            break outcome;
        }
    };
    tell(&job.world, &job.session, "session.status", json!({ "status": { "type": "idle" } }));
    tell(&job.world, &job.session, "session.idle", json!({}));
    job.tell_session();
    job.world.changed();
    outcome
}

async fn turns(job: &Job) -> Result<(), NotBegun> {
    while !job.cancel.is_cancelled() {
        job.set_status(json!({ "type": "busy" }));
        let messages = job.messages();
        let Some(user) = messages.iter().rev().find(|message| message["info"]["role"] == "user") else { break };
        let answer = messages.iter().rev().find(|message| message["info"]["role"] == "assistant");
        if answer.is_some_and(|answer| is_final(answer, user)) {
            break;
        }
        let wanted = &user["info"]["model"];
        let names = (text(&wanted["providerID"]), text(&wanted["modelID"]));
        let Some(model) = job.instance.catalogue.model(names.0, names.1).cloned() else {
            let message = format!("Model not found: {}/{}.", names.0, names.1);
            tell(&job.world, &job.session, "session.error", json!({ "error": shapes::unknown(&message) }));
            return Err(NotBegun);
        };
        if let Some(called) = subtask::pending(user, answer) {
            subtask::run(job, user, &model, called).await;
            continue;
        }
        match step::step(job, user, &model).await {
            Flow::Continue => {}
            Flow::Again => tokio::time::sleep(BETWEEN_STEPS).await,
            Flow::Stop => break,
            Flow::Compact => {
                if compaction::compact(job, user, &model).await == Flow::Stop {
                    break;
                }
            }
        }
    }
    Ok(())
}

/// An answer that ended for any reason but a tool call or an unknown one is the last.
fn is_final(answer: &Value, user: &Value) -> bool {
    let finish = answer["info"]["finish"].as_str();
    let ended = finish.is_some_and(|finish| !matches!(finish, "tool-calls" | "unknown"));
    ended && text(&user["info"]["id"]) < text(&answer["info"]["id"])
}

impl Job {
    pub fn messages(&self) -> Vec<Value> {
        self.world.sessions().get(&self.session).map(|session| session.messages.clone()).unwrap_or_default()
    }

    pub fn info(&self) -> Value {
        self.world.sessions().get(&self.session).map(|session| session.info.clone()).unwrap_or_default()
    }

    pub fn set_status(&self, status: Value) {
        self.world.sessions().set_status(&self.session, status.clone());
        tell(&self.world, &self.session, "session.status", json!({ "status": status }));
    }

    /// Stores the session as it is now, and sends the event for it.
    pub fn tell_session(&self) {
        let info = self.info();
        if info.is_null() {
            return;
        }
        self.machine.store.session(&info);
        tell(&self.world, &self.session, "session.updated", json!({ "info": info }));
    }
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}
