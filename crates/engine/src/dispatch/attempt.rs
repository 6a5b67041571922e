//! One attempt on one model: its session, its prompts (several when a structure has to be mended), its
//! end on the server, and its bill.

use super::{
    Options,
    prepare::{Prepared, Refusal},
    session::{Afterwards, afterwards, new_session},
};
use crate::{
    Context,
    owner::this_process,
    server::{Acquired, give_up},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use switchyard_agents::opencode::{
    ApiError, Client, Expect, Failure, GiveUp, PermissionPolicy, PromptBody, PromptReport, RunLimits, RunPrompt, Shape,
    Sink, StepLimit, StopOutcome, TreeUsage, read_tree, run_prompt,
};
use switchyard_core::{
    DispatchId, ErrorClass, ModelRef, Nano, Usage,
    config::PermissionAnswer,
    dispatch::{Mode, Request},
    id::message_id,
};
use switchyard_host::clock::now_micros;
use switchyard_store::{AttemptEnd, NewAttempt, NewDispatch, RunStatus, SessionRecord, SessionState};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(super) struct Attempt<'a> {
    pub(super) context: &'a Context,
    pub(super) request: &'a Request,
    pub(super) options: &'a Options,
    pub(super) client: &'a Client,
    pub(super) acquired: &'a Acquired,
    pub(super) prepared: &'a Prepared,
    pub(super) id: DispatchId,
    pub(super) sink: &'a Sink,
    pub(super) cancel: &'a CancellationToken,
}

/// What an attempt came to.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) result: Result<(String, Option<Value>), Failure>,
    /// What was said, also by a failure.
    pub(super) text: String,
    pub(super) answered_by: Option<ModelRef>,
    pub(super) usage: Usage,
    pub(super) cost: Nano,
    pub(super) cost_known: bool,
    pub(super) session: String,
    pub(super) kept: bool,
    pub(super) warnings: Vec<String>,
    pub(super) duration: Duration,
}

const ORDINAL: u32 = 1;
const STREAM_PATIENCE: Duration = Duration::from_secs(5);
/// A command brings its own plan; this only ends one that runs in circles.
const MOST_STEPS: u32 = 100;

pub(super) async fn run_attempt(attempt: &Attempt<'_>) -> Result<Outcome, Refusal> {
    let began = Instant::now();
    let store = &attempt.context.store;
    let model = &attempt.prepared.route.model;
    let (session, before) = match open_session(attempt).await {
        Ok(opened) => opened,
        Err(error) => {
            let failure = Failure::new(ErrorClass::OpencodeUnhealthy, error.to_string());
            let end = end_record(&Err(failure), None, (Usage::default(), Nano::ZERO, true));
            // It may not even have been recorded; the error that stopped it is the one to tell.
            drop(store.finish_attempt(attempt.id, ORDINAL, &end).await);
            return Err(error);
        }
    };
    tracing::debug!(session, "the session is open");
    let ran = run_prompts(attempt, &session, began).await;
    tracing::debug!(session, "the run has ended and was read back");
    let bill = read_bill(attempt, &session, &before, &ran).await;
    let totals = (bill.usage, bill.cost, bill.known);
    let end = end_record(&ran.result, ran.report.verdict.answered_by.as_ref(), totals);
    // Settled before the session goes: after a crash in between, its cost could be read nowhere.
    store.finish_attempt(attempt.id, ORDINAL, &end).await?;
    tracing::debug!(session, "the attempt is settled");
    let kept = close_session(attempt, &session, &ran).await?;
    tracing::debug!(session, kept, "the session is closed");
    let Ran { report, result, mut warnings, .. } = ran;
    warnings.extend(bill.warning);
    warnings.extend(other_model(model, report.verdict.answered_by.as_ref()));
    if attempt.request.mode == Mode::Agent && result.is_ok() && report.verdict.tool_calls == 0 {
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
        warnings,
        duration: began.elapsed(),
    })
}

/// The session to run in, and what had been spent in it before. Everything is in the store before the
/// first prompt can cost anything; an empty session that a crash leaves behind carries our id in its title.
async fn open_session(attempt: &Attempt<'_>) -> Result<(String, TreeUsage), Refusal> {
    let opening = async {
        match &attempt.request.session {
            Some(session) => Ok((session.clone(), read_tree(attempt.client, session).await?)),
            None => {
                let created = attempt.client.create_session(&new_session(attempt.request, attempt.id)).await?;
                Ok::<_, Refusal>((created.id, TreeUsage::default()))
            }
        }
    };
    let ((), (id, before), ()) = tokio::try_join!(record_begin(attempt), opening, events_stand(attempt))?;
    attempt.context.store.set_attempt_session(attempt.id, ORDINAL, &id).await?;
    // One that is to stay counts as kept from the start: whoever cleans up after a crash must not remove it.
    let state = match afterwards(attempt.request) {
        Afterwards::Keep => SessionState::Kept,
        Afterwards::Delete => SessionState::Open,
    };
    put_session(attempt, &id, state).await?;
    Ok((id, before))
}

/// A prompt before the stream stands could lose its first events. A managed server that opens none is
/// wedged, whatever its port says; for one of the user's, looking carries the run.
async fn events_stand(attempt: &Attempt<'_>) -> Result<(), Refusal> {
    let stand = attempt.acquired.hub.wait_connected(STREAM_PATIENCE).await;
    if stand || attempt.acquired.managed.is_none() {
        return Ok(());
    }
    Err(Refusal::Api(ApiError::Deadline(attempt.client.address())))
}

async fn record_begin(attempt: &Attempt<'_>) -> Result<(), Refusal> {
    let (request, route) = (attempt.request, &attempt.prepared.route);
    let dispatch = NewDispatch {
        id: attempt.id,
        at: now_micros(),
        owner: this_process()?,
        mode: request.mode.to_string(),
        requested: request.selector.to_json(),
        route: serde_json::to_value(route).unwrap_or_default(),
        directory: request.directory.to_string_lossy().into_owned(),
        prompt_chars: request.prompt.chars().count() as u64,
    };
    attempt.context.store.begin_dispatch(&dispatch).await?;
    let first = NewAttempt {
        dispatch: attempt.id,
        ordinal: ORDINAL,
        at: now_micros(),
        model: route.model.to_string(),
        server: attempt.acquired.managed,
    };
    Ok(attempt.context.store.begin_attempt(&first).await?)
}

async fn put_session(attempt: &Attempt<'_>, id: &str, state: SessionState) -> Result<(), Refusal> {
    let record = SessionRecord {
        id: id.to_owned(),
        home: attempt.acquired.home.clone(),
        directory: attempt.request.directory.to_string_lossy().into_owned(),
        model: attempt.prepared.route.model.to_string(),
        state,
        used_at: now_micros(),
    };
    Ok(attempt.context.store.put_session(&record).await?)
}

struct Ran {
    report: PromptReport,
    /// What the messages of all prompts say of themselves, and whether that is everything.
    usage: Usage,
    cost: Nano,
    is_complete: bool,
    result: Result<(String, Option<Value>), Failure>,
    warnings: Vec<String>,
}

/// Prompts until the answer fits its schema, or the tries or the time are used up.
async fn run_prompts(attempt: &Attempt<'_>, session: &str, began: Instant) -> Ran {
    let mut prompt = attempt.request.prompt.clone();
    let mut warnings = Vec::new();
    let mut tries = 0;
    let (mut usage, mut cost, mut is_complete) = (Usage::default(), Nano::ZERO, true);
    loop {
        let limits = limits(attempt, began);
        let message = fresh_message_id();
        let body = body(attempt, &prompt, tries == 0);
        let expect = if attempt.request.schema.is_some() { Expect::Structured } else { Expect::Text };
        let report = run_prompt(RunPrompt {
            client: attempt.client,
            hub: &attempt.acquired.hub,
            session,
            message: &message,
            body: &body,
            expect,
            shape: if attempt.request.mode == Mode::Text { Shape::OneAnswer } else { Shape::ManySteps },
            limits,
            sink: attempt.sink,
            cancel: attempt.cancel,
        })
        .await;
        usage = usage + report.verdict.usage;
        cost = cost + report.verdict.cost.unwrap_or_default();
        is_complete &= report.gave_up.is_none() && report.verdict.cost.is_some();
        warnings
            .extend(report.warnings.iter().filter(|warning| !warnings.contains(*warning)).cloned().collect::<Vec<_>>());
        let fault = match (&attempt.request.schema, &report.verdict.outcome) {
            (Some(schema), Ok(answer)) => {
                let faults = schema.faults(answer.structured.as_ref().unwrap_or(&Value::Null));
                (!faults.is_empty()).then(|| faults.join("; "))
            }
            (Some(_), Err(failure)) if failure.class == ErrorClass::StructuredOutputFailed => {
                Some(failure.message.clone())
            }
            _ => None,
        };
        let Some(fault) = fault else {
            let result = report.verdict.outcome.clone().map(|answer| (answer.text, answer.structured));
            let result = result.map_err(|failure| with_key_knowledge(attempt, failure));
            return Ran { report, usage, cost, is_complete, result, warnings };
        };
        if tries >= attempt.context.config.dispatch.structured_retries {
            let message = format!("no answer fits the schema after {} tries: {fault}", tries + 1);
            let result = Err(Failure::new(ErrorClass::StructuredOutputFailed, message));
            return Ran { report, usage, cost, is_complete, result, warnings };
        }
        tries += 1;
        warnings.push(format!("try {tries} did not fit the schema: {fault}"));
        prompt = format!("Your last answer does not fit the required schema: {fault}\nAnswer again, corrected.");
    }
}

/// A refused key is a missing key when there is none.
fn with_key_knowledge(attempt: &Attempt<'_>, failure: Failure) -> Failure {
    let provider = &attempt.prepared.route.model.provider;
    if failure.class == ErrorClass::AuthInvalid && !attempt.prepared.catalogue.has_key(provider) {
        return Failure { class: ErrorClass::AuthMissing, ..failure };
    }
    failure
}

fn limits(attempt: &Attempt<'_>, began: Instant) -> RunLimits {
    let settings = &attempt.context.config.dispatch;
    let total = attempt.options.timeout.unwrap_or(match attempt.request.mode {
        Mode::Text => settings.text_timeout,
        Mode::Agent => settings.agent_timeout,
        Mode::Command => settings.command_timeout,
    });
    RunLimits {
        first_token: settings.first_token_timeout.0,
        inactivity: settings.inactivity_timeout.0,
        total: total.0,
        began,
        retry_wait_cap: settings.retry_wait_cap.0,
        provider_retries: settings.provider_retries,
        steps: Some(match attempt.request.mode {
            // A text answer is one step; OpenCode asks again for as long as an answer ends oddly.
            Mode::Text => StepLimit::Circles(2),
            Mode::Agent => StepLimit::Work(attempt.options.steps.unwrap_or(settings.agent_steps)),
            Mode::Command => StepLimit::Work(attempt.options.steps.unwrap_or(MOST_STEPS)),
        }),
        permission: match settings.permission_answer {
            PermissionAnswer::Reject => PermissionPolicy::Reject,
            PermissionAnswer::Once => PermissionPolicy::AllowOnce,
        },
    }
}

fn body(attempt: &Attempt<'_>, prompt: &str, with_images: bool) -> PromptBody {
    let request = attempt.request;
    let images = request.images.iter().filter(|_| with_images).map(|image| {
        let data = STANDARD.encode(&image.bytes);
        let url = format!("data:{};base64,{data}", image.mime);
        json!({"type": "file", "mime": image.mime, "filename": image.name, "url": url})
    });
    let model = attempt.prepared.route.model.clone();
    let agent = attempt.prepared.agent.clone();
    if request.mode == Mode::Command {
        let (name, arguments) = request.command();
        return PromptBody::Command {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            model,
            agent,
            files: images.collect(),
        };
    }
    let mut parts = vec![json!({"type": "text", "text": prompt})];
    parts.extend(images);
    let schema = request.schema.as_ref().map(|schema| schema.source().clone());
    PromptBody::Prompt { parts, model, agent, system: request.system.clone(), schema }
}

struct Bill {
    usage: Usage,
    cost: Nano,
    known: bool,
    warning: Option<String>,
}

/// What the attempt really used, over the session and all its descendants, read from the server.
async fn read_bill(attempt: &Attempt<'_>, session: &str, before: &TreeUsage, ran: &Ran) -> Bill {
    let read = match ran.report.stop {
        Some(StopOutcome::Unreachable) => Err(ApiError::Unreachable(attempt.client.address())),
        // A new text session was denied every tool, so nothing can hang below it: its messages are all.
        _ if ran.is_complete && attempt.request.mode == Mode::Text && attempt.request.session.is_none() => {
            Ok(TreeUsage { usage: ran.usage, cost: ran.cost, cost_known: true, sessions: Vec::new() })
        }
        _ => read_tree(attempt.client, session).await,
    };
    match read {
        Ok(tree) => {
            let (usage, cost) = tree.since(before);
            let model = &attempt.prepared.route.model;
            let price = attempt.prepared.catalogue.find(model).map(|model| model.price).unwrap_or_default();
            let priceless = price.is_zero() && cost == Nano::ZERO && usage.total() > 0;
            let warning = if priceless {
                Some(format!("no price is known for {model}, so the cost is not known"))
            } else if ran.report.verdict.unreported {
                Some("the answer was cut off before its tokens were reported, so the cost is a lower bound".into())
            } else {
                None
            };
            Bill { usage, cost, known: tree.cost_known && warning.is_none(), warning }
        }
        Err(error) => Bill {
            usage: Usage::default(),
            cost: Nano::ZERO,
            known: false,
            warning: Some(format!("the cost could not be read: {error}")),
        },
    }
}

/// On a managed server the keeper deletes what is done with, so that nobody has to wait for it.
fn keeper_deletes(attempt: &Attempt<'_>) -> bool {
    attempt.acquired.managed.is_some() && afterwards(attempt.request) == Afterwards::Delete
}

/// Leaves the session as its policy says; tells whether it is still there for another prompt.
async fn close_session(attempt: &Attempt<'_>, session: &str, ran: &Ran) -> Result<bool, Refusal> {
    let stuck = matches!(ran.report.stop, Some(StopOutcome::StillRunning | StopOutcome::Unreachable));
    if stuck || matches!(ran.report.gave_up, Some(GiveUp::ServerLost(_))) {
        if let Some(server) = attempt.acquired.managed {
            // A server that does not obey an abort is ended by its keeper.
            give_up(attempt.context, server).await;
        }
        put_session(attempt, session, SessionState::Kept).await?;
        return Ok(true);
    }
    if afterwards(attempt.request) == Afterwards::Keep {
        put_session(attempt, session, SessionState::Kept).await?;
        return Ok(true);
    }
    if keeper_deletes(attempt) {
        put_session(attempt, session, SessionState::Doomed).await?;
        return Ok(false);
    }
    match attempt.client.delete_stopped_session(session).await {
        Ok(()) | Err(ApiError::NotFound(_)) => {
            put_session(attempt, session, SessionState::Deleted).await?;
            Ok(false)
        }
        Err(error) => {
            tracing::warn!(%error, session, "a session could not be deleted and is kept");
            put_session(attempt, session, SessionState::Kept).await?;
            Ok(true)
        }
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

pub(crate) fn fresh_message_id() -> String {
    let millis = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    let mut random = [0; 14];
    random.copy_from_slice(&Uuid::new_v4().as_bytes()[..14]);
    message_id(u64::try_from(millis).unwrap_or_default(), 0, random)
}
