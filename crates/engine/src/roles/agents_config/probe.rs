//! One agent, asked for a word without a model being named: recorded, held to the limits and paid like any dispatch.

use super::here::Desk;
use crate::{
    Context,
    base::{owner::this_process, refusal::Refusal},
    dispatch::fresh_message_id,
    routing::budget::{self, Concern, Planned, reserve_for},
};
use serde_json::json;
use shuntyard_agents::opencode::{Approach, NewSession, PermissionRule, Said, read_tree, stop_sessions};
use shuntyard_core::{
    DispatchId, ErrorClass, ModelRef, Nano, Usage,
    routing::{Catalogue, Resolution, Selector, request::Request},
    values::{Mode, Urgency},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{
    AttemptEnd, Begun, DispatchEnd, NewAttempt, NewDispatch, RunStatus, SessionRecord, SessionState,
};
use std::{path::Path, time::Duration};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

const PROMPT: &str = "This is a test of who answers. Use no tool. Answer with the one word OK.";
/// For a configuration that sets no limit: a probe never waits for ever.
const PATIENCE: Duration = Duration::from_secs(120);

#[derive(Debug, Clone)]
pub struct Probe {
    pub answered_by: Option<ModelRef>,
    pub problem: Option<String>,
    pub cost: Nano,
    pub cost_known: bool,
}

pub(super) struct Asking<'a> {
    pub(super) context: &'a Context,
    pub(super) desk: &'a Desk,
    pub(super) directory: &'a Path,
    pub(super) agent: &'a str,
    pub(super) approach: Approach<'a>,
    /// For the model that should answer.
    pub(super) resolution: &'a Resolution,
    pub(super) catalogue: &'a Catalogue,
    pub(super) cancel: &'a CancellationToken,
}

/// The answer, and how the probe ended.
struct Heard {
    session: Option<String>,
    said: Option<Said>,
    problem: Option<String>,
    class: Option<ErrorClass>,
    usage: Usage,
    usage_known: bool,
    cost: Nano,
    cost_known: bool,
}

pub(super) async fn probe(asking: &Asking<'_>) -> Result<Probe, Refusal> {
    let id = DispatchId(Uuid::now_v7());
    begin(asking, id).await?;
    let heard = hear(asking, id).await;
    let store = &asking.context.store;
    let status = match heard.class {
        None => RunStatus::Ok,
        Some(ErrorClass::Timeout) => RunStatus::Timeout,
        Some(_) => RunStatus::Error,
    };
    let answered_by = heard.said.as_ref().map(|said| said.model.clone());
    let end = AttemptEnd {
        at: now_micros(),
        status,
        error_class: heard.class,
        message: heard.problem.clone(),
        answered_by: answered_by.as_ref().map(ToString::to_string),
        usage: heard.usage,
        usage_known: heard.usage_known,
        cost: heard.cost,
        cost_known: heard.cost_known,
    };
    // Settled before the session goes: after a crash in between, its cost could be read nowhere.
    let settled = store.finish_attempt(id, 1, &end).await?;
    if let Some(session) = &heard.session {
        leave(asking, session).await?;
    }
    let (at, error_class) = (now_micros(), heard.class);
    let end = DispatchEnd { at, status, error_class, warnings: Vec::new(), route: None, outcomes: Vec::new() };
    store.finish_dispatch(id, &end).await?;
    if heard.class == Some(ErrorClass::Cancelled) {
        return Err(Refusal::Cancelled);
    }
    Ok(Probe { answered_by, problem: heard.problem, cost: settled.cost, cost_known: settled.cost_known })
}

async fn begin(asking: &Asking<'_>, id: DispatchId) -> Result<(), Refusal> {
    let Asking { context, resolution, .. } = *asking;
    let selector = Selector::Exact(resolution.model.clone());
    let mut request = Request::plain(PROMPT, selector, Mode::Agent, asking.directory);
    request.agent = Some(asking.agent.to_owned());
    let lines = budget::lines(context, Concern::default()).await?;
    let reserve = match asking.catalogue.find(&resolution.model) {
        Ok(model) => {
            let steps = match asking.approach {
                Approach::Leads => 1,
                // The agent that called it gets its answer, and answers too.
                Approach::Called { .. } => 2,
            };
            let urgency = Urgency::Normal;
            let planned = Planned { lines: &lines, urgency, request: &request, resolution, model, left: None, steps };
            Some(reserve_for(context, &planned).await?)
        }
        Err(_) => None,
    };
    let dispatch = NewDispatch {
        id,
        at: now_micros(),
        owner: this_process()?,
        mode: request.mode.to_string(),
        requested: json!({"agent": asking.agent}),
        route: serde_json::to_value(resolution).unwrap_or_default(),
        directory: asking.directory.to_string_lossy().into_owned(),
        prompt_chars: PROMPT.chars().count() as u64,
    };
    let attempt = NewAttempt {
        dispatch: id,
        ordinal: 1,
        at: now_micros(),
        model: resolution.model.to_string(),
        server: asking.desk.acquired.managed,
        tier: resolution.tier.clone(),
        task: None,
        batch: None,
        reserve: reserve.as_ref().map(|reservation| reservation.reserve.clone()),
    };
    match (context.store.begin_dispatch_with(&dispatch, &attempt).await?, reserve) {
        (Begun::Started, _) => Ok(()),
        (Begun::Refused { ceiling, settled, reserved }, Some(reserve)) => {
            Err(reserve.refused(ceiling, settled, reserved).into())
        }
        (Begun::Refused { .. }, None) => Err(Refusal::Budget { why: "a limit has no room".into(), next: None }),
    }
}

async fn hear(asking: &Asking<'_>, id: DispatchId) -> Heard {
    let client = &asking.desk.client;
    let (usage, cost) = (Usage::default(), Nano::ZERO);
    let (usage_known, cost_known) = (true, true);
    let mut heard =
        Heard { session: None, said: None, problem: None, class: None, usage, usage_known, cost, cost_known };
    let session = match open(asking, id).await {
        Ok(session) => session,
        Err(refusal) => {
            let (problem, class) = (Some(refusal.to_string()), Some(ErrorClass::OpencodeUnhealthy));
            return Heard { problem, class, ..heard };
        }
    };
    let message = fresh_message_id();
    let asked = client.ask_agent(&session, &message, asking.agent, asking.approach, PROMPT);
    let patience = asking.context.config.dispatch.text_timeout.0.unwrap_or(PATIENCE);
    let ended = tokio::select! {
        asked = tokio::time::timeout(patience, asked) => match asked {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some((ErrorClass::ServerError, error.to_string())),
            Err(_) => Some((ErrorClass::Timeout, format!("no answer within {}", shuntyard_core::values::duration::show(patience)))),
        },
        () = asking.cancel.cancelled() => Some((ErrorClass::Cancelled, "it was cancelled".to_owned())),
    };
    if let Some((class, problem)) = ended {
        let children = client.children(&session).await.unwrap_or_default();
        let sessions: Vec<String> =
            [session.clone()].into_iter().chain(children.into_iter().map(|one| one.id)).collect();
        stop_sessions(client, &sessions).await;
        (heard.class, heard.problem) = (Some(class), Some(problem));
    }
    match client.said_by_agent(&session, asking.approach).await {
        Ok(said) => heard.said = said,
        Err(error) => heard.problem = heard.problem.or_else(|| Some(error.to_string())),
    }
    heard.problem = heard.problem.or_else(|| match &heard.said {
        Some(said) => said.problem.clone(),
        None => Some("it gave no answer".to_owned()),
    });
    if heard.problem.is_some() && heard.class.is_none() {
        heard.class = Some(ErrorClass::ServerError);
    }
    match read_tree(client, &session).await {
        Ok(tree) => {
            let price = asking.catalogue.find(&asking.resolution.model).map(|model| model.price).unwrap_or_default();
            let priceless = price.is_zero() && tree.cost == Nano::ZERO && tree.usage.total() > 0;
            // Tokens of an answer that was cut off are billed and never reported.
            let cut_off = matches!(heard.class, Some(ErrorClass::Timeout | ErrorClass::Cancelled));
            heard.usage_known = !cut_off;
            heard.cost_known = tree.cost_known && !priceless && !cut_off;
            (heard.usage, heard.cost) = (tree.usage, tree.cost);
        }
        Err(_) => (heard.usage_known, heard.cost_known) = (false, false),
    }
    heard.session = Some(session);
    heard
}

/// A session that may use no tool, known to the store before anything can cost money.
async fn open(asking: &Asking<'_>, id: DispatchId) -> Result<String, Refusal> {
    let new = NewSession {
        title: format!("shuntyard {id} probe of {}", asking.agent),
        permission: vec![PermissionRule::deny("*")],
        metadata: json!({ "shuntyard": { "dispatch": id } }),
    };
    let session = asking.desk.client.create_session(&new).await?.id;
    let store = &asking.context.store;
    store.set_attempt_session(id, 1, &session).await?;
    store.put_session(&record(asking, &session, SessionState::Open)).await?;
    Ok(session)
}

/// On a managed server the keeper deletes what is done with.
async fn leave(asking: &Asking<'_>, session: &str) -> Result<(), Refusal> {
    let state = match asking.desk.acquired.managed {
        Some(_) => SessionState::Doomed,
        None => match asking.desk.client.delete_stopped_session(session).await {
            Ok(()) => SessionState::Deleted,
            Err(_) => SessionState::Kept,
        },
    };
    Ok(asking.context.store.put_session(&record(asking, session, state)).await?)
}

fn record(asking: &Asking<'_>, session: &str, state: SessionState) -> SessionRecord {
    SessionRecord {
        id: session.to_owned(),
        home: asking.desk.acquired.home.clone(),
        directory: asking.directory.to_string_lossy().into_owned(),
        model: asking.resolution.model.to_string(),
        state,
        used_at: now_micros(),
    }
}
