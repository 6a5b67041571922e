//! One attempt on one model, on OpenCode or directly at the provider: recorded, run, paid and settled.

mod bill;
mod direct;
mod on_server;
mod prompts;
mod record;
mod session;

pub(super) use direct::run_direct;
pub(super) use on_server::run_on_server;
pub(crate) use prompts::fresh_message_id;

use super::{
    Options,
    server_handle::ServerHandle,
    transport::{Way, way},
};
use crate::{Context, routing::budget::Reservation};
use serde_json::Value;
use shuntyard_agents::opencode::{Failure, GiveUp, Sink};
use shuntyard_core::{
    DispatchId, ErrorClass, ModelRef, Nano, Usage,
    routing::{Catalogue, Classified, Resolution, request::Request},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{AttemptEnd, RunStatus, Settled, StoreError};
use std::time::{Duration, Instant};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;

/// What does not change from one attempt to the next.
#[derive(Clone, Copy)]
pub(super) struct Run<'a> {
    pub(super) context: &'a Context,
    pub(super) request: &'a Request,
    pub(super) options: &'a Options,
    /// What its text looks like, when the text itself may choose.
    pub(super) classified: Option<&'a Classified>,
    /// The OpenCode server, once one is needed.
    pub(super) server_handle: &'a OnceCell<ServerHandle>,
    pub(super) id: DispatchId,
    pub(super) sink: &'a Sink,
    pub(super) cancel: &'a CancellationToken,
}

impl Run<'_> {
    /// How a model is reached.
    pub(super) fn way(&self, model: &ModelRef) -> Way {
        let via = self.options.via.unwrap_or_else(|| self.context.config.via(&model.provider));
        way(self.context, self.request, via, self.options.company, model)
    }
}

pub(super) struct Attempt<'a> {
    pub(super) run: Run<'a>,
    pub(super) resolution: &'a Resolution,
    pub(super) catalogue: &'a Catalogue,
    /// Counts from 1 within the dispatch.
    pub(super) ordinal: u32,
    /// Whether the dispatch itself is in the store already.
    pub(super) recorded: bool,
    /// What it reserves before it runs.
    pub(super) reservation: Option<Reservation>,
    /// What is left of the money that the dispatch may cost.
    pub(super) left: Option<Nano>,
    /// From when the whole dispatch is timed.
    pub(super) timed_from: Instant,
}

/// An attempt with the server that it runs on.
pub(super) struct ServerAttempt<'a> {
    pub(super) attempt: &'a Attempt<'a>,
    pub(super) server_handle: &'a ServerHandle,
}

/// What an attempt came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) result: Result<(String, Option<Value>), Failure>,
    /// The text of the answer, also of a failed attempt.
    pub(crate) text: String,
    pub(crate) answered_by: Option<ModelRef>,
    pub(crate) usage: Usage,
    pub(crate) cost: Nano,
    pub(crate) cost_known: bool,
    pub(crate) session: String,
    pub(crate) kept: bool,
    /// Whether its end is in the store.
    pub(crate) settled: bool,
    pub(crate) warnings: Vec<String>,
    pub(crate) duration: Duration,
    /// Why it was ended before it ended by itself.
    pub(crate) gave_up: Option<GiveUp>,
    pub(crate) tool_calls: u32,
    /// False when the server did not report that the run has ended.
    pub(crate) stopped: bool,
}

impl Attempt<'_> {
    pub(super) fn model(&self) -> &ModelRef {
        &self.resolution.model
    }
}

/// A store that was busy for a moment gets a second chance.
pub(in crate::dispatch) async fn twice<F, T, V>(mut change: F) -> Result<V, StoreError>
where
    F: FnMut() -> T,
    T: Future<Output = Result<V, StoreError>>,
{
    match change().await {
        Ok(value) => Ok(value),
        Err(_) => change().await,
    }
}

/// What an attempt used and cost, as far as it was seen.
#[derive(Debug, Clone, Copy)]
struct Seen {
    usage: Usage,
    usage_known: bool,
    cost: Nano,
    cost_known: bool,
}

impl Seen {
    /// No request was sent.
    const NOTHING: Self = Self { usage: Usage::NONE, usage_known: true, cost: Nano::ZERO, cost_known: true };

    /// What it counts with: as it was settled, or as it was seen while it could not be settled.
    fn counted(&self, settled: Option<&Settled>) -> Settled {
        settled.copied().unwrap_or(Settled { usage: self.usage, cost: self.cost, cost_known: self.cost_known })
    }
}

fn end_record(
    result: &Result<(String, Option<Value>), Failure>,
    answered_by: Option<&ModelRef>,
    seen: &Seen,
) -> AttemptEnd {
    let failure = result.as_ref().err();
    let status = match failure.map(|failure| failure.class) {
        None => RunStatus::Ok,
        Some(ErrorClass::Timeout) => RunStatus::Timeout,
        Some(_) => RunStatus::Error,
    };
    AttemptEnd {
        at: now_micros(),
        status,
        error_class: failure.map(|failure| failure.class),
        message: failure.map(|failure| failure.message.clone()),
        answered_by: answered_by.map(ToString::to_string),
        usage: seen.usage,
        usage_known: seen.usage_known,
        cost: seen.cost,
        cost_known: seen.cost_known,
    }
}
