//! One attempt on one model: a session is opened, prompted, paid and closed, in this order.

mod bill;
mod prompts;
mod session;

pub(crate) use prompts::fresh_message_id;

use super::{hops::Run, refusal::Refusal};
use bill::read_bill;
use prompts::{Ran, run_prompts};
use serde_json::Value;
use session::{close_session, open_session};
use std::time::{Duration, Instant};
use switchyard_agents::opencode::{Failure, GiveUp, StopOutcome};
use switchyard_core::{
    ErrorClass, ModelRef, Nano, Usage,
    dispatch::Mode,
    route::{Catalogue, Resolution},
};
use switchyard_host::clock::now_micros;
use switchyard_store::{AttemptEnd, Reserve, RunStatus, StoreError};

pub(super) struct Attempt<'a> {
    pub(super) run: Run<'a>,
    pub(super) resolution: &'a Resolution,
    pub(super) catalogue: &'a Catalogue,
    pub(super) agent: Option<&'a str>,
    /// Counts from 1 within the dispatch.
    pub(super) ordinal: u32,
    /// Whether the dispatch itself is in the store already.
    pub(super) recorded: bool,
    /// What it sets aside before it runs.
    pub(super) reserve: Option<Reserve>,
    /// What is left of the money that the dispatch may cost.
    pub(super) left: Option<Nano>,
    /// From when the whole dispatch is timed.
    pub(super) timed_from: Instant,
}

/// What an attempt came to.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) result: Result<(String, Option<Value>), Failure>,
    /// What was said, also by a failure.
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
    /// False when the server did not say that the run has ended.
    pub(crate) stopped: bool,
}

impl Attempt<'_> {
    pub(super) fn model(&self) -> &ModelRef {
        &self.resolution.model
    }
}

pub(super) async fn run_attempt(attempt: &Attempt<'_>) -> Result<Outcome, Refusal> {
    let began = Instant::now();
    let store = &attempt.run.context.store;
    let model = attempt.model();
    let (session, before) = match open_session(attempt).await {
        Ok(opened) => opened,
        Err(error) => {
            let failure = Failure::new(ErrorClass::OpencodeUnhealthy, error.to_string());
            let end = end_record(&Err(failure), None, (Usage::default(), Nano::ZERO, true));
            // It may not even have been recorded; the error that stopped it is the one to tell.
            drop(twice(|| store.finish_attempt(attempt.run.id, attempt.ordinal, &end)).await);
            return Err(error);
        }
    };
    tracing::debug!(session, "the session is open");
    let ran = run_prompts(attempt, &session).await;
    tracing::debug!(session, "the run has ended and was read back");
    let bill = read_bill(attempt, &session, &before, &ran).await;
    let totals = (bill.usage, bill.cost, bill.known);
    let end = end_record(&ran.result, ran.report.verdict.answered_by.as_ref(), totals);
    // Settled before the session goes: after a crash in between, its cost could be read nowhere. From here on
    // the answer is paid for: what cannot be recorded is said with it, and never takes its place.
    let settled = twice(|| store.finish_attempt(attempt.run.id, attempt.ordinal, &end)).await;
    tracing::debug!(session, "the attempt is settled");
    let closed = match &settled {
        Ok(()) => close_session(attempt, &session, &ran).await.map_err(|refusal| refusal.to_string()),
        // Its cost is still to be read, so it stays; recovery settles it when this process is gone.
        Err(error) => Err(error.to_string()),
    };
    tracing::debug!(session, ?closed, "the session is closed");
    let Ran { report, result, mut warnings, tool_calls, .. } = ran;
    let kept = closed.as_ref().copied().unwrap_or(true);
    warnings.extend(closed.err().map(|error| format!("the dispatch could not be recorded: {error}")));
    warnings.extend(bill.warning);
    warnings.extend(other_model(model, report.verdict.answered_by.as_ref()));
    if attempt.run.request.mode == Mode::Agent && result.is_ok() && tool_calls == 0 {
        warnings.push("the agent only wrote text: it used no tool and changed nothing".into());
    }
    Ok(Outcome {
        result,
        text: report.verdict.text,
        answered_by: report.verdict.answered_by,
        usage: bill.usage,
        cost: bill.cost,
        cost_known: bill.known,
        session,
        kept,
        settled: settled.is_ok(),
        warnings,
        duration: began.elapsed(),
        gave_up: report.gave_up,
        tool_calls,
        stopped: !matches!(report.stop, Some(StopOutcome::StillRunning | StopOutcome::Unreachable)),
    })
}

/// A store that was busy for a moment gets a second chance.
pub(super) async fn twice<F, T>(mut change: F) -> Result<(), StoreError>
where
    F: FnMut() -> T,
    T: Future<Output = Result<(), StoreError>>,
{
    match change().await {
        Ok(()) => Ok(()),
        Err(_) => change().await,
    }
}

fn end_record(
    result: &Result<(String, Option<Value>), Failure>,
    answered_by: Option<&ModelRef>,
    (usage, cost, cost_known): (Usage, Nano, bool),
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
        usage,
        cost,
        cost_known,
    }
}

fn other_model(asked: &ModelRef, answered: Option<&ModelRef>) -> Option<String> {
    let answered = answered?;
    (answered.base() != asked.base()).then(|| format!("{} was asked, but {} answered", asked.base(), answered.base()))
}
