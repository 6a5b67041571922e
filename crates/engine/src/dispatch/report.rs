//! The result of a dispatch, in the form that scripts rely on.

use super::{
    attempt::Outcome,
    attempts::{AttemptLoop, Made},
};
use crate::Context;
use serde::Serialize;
use serde_json::Value;
use shuntyard_core::{
    DispatchId, ErrorClass, ModelRef, Nano, Usage,
    routing::{Resolution, Selector, request::Request},
};
use shuntyard_host::paths::{private_dir, write_private};
use shuntyard_store::RunStatus;
use std::{path::PathBuf, time::Instant};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    Ok,
    Error,
    Timeout,
}

impl From<Status> for RunStatus {
    fn from(status: Status) -> Self {
        match status {
            Status::Ok => Self::Ok,
            Status::Error => Self::Error,
            Status::Timeout => Self::Timeout,
        }
    }
}

#[derive(Debug, Clone, Serialize)]
pub struct DispatchReport {
    pub id: DispatchId,
    pub status: Status,
    pub text: String,
    pub structured: Option<Value>,
    /// The model that answered, read back; the one that was asked when none did.
    pub model: ModelRef,
    pub requested: Value,
    pub route: Resolution,
    pub attempts: Vec<AttemptReport>,
    pub usage: Usage,
    pub cost_usd: f64,
    pub cost_known: bool,
    pub duration_ms: u64,
    pub session_id: String,
    /// How the model that answered was reached.
    pub via: &'static str,
    pub kept: bool,
    pub truncated: bool,
    pub full_text_path: Option<PathBuf>,
    pub warnings: Vec<String>,
    pub error: Option<ErrorReport>,
    /// Whether nothing runs for it any more. A server that does not obey may go on for a while.
    #[serde(skip)]
    pub stopped: bool,
}

#[derive(Debug, Clone, Serialize)]
pub struct AttemptReport {
    pub model: String,
    pub status: Status,
    pub error_class: Option<ErrorClass>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    pub duration_ms: u64,
    pub cost_usd: f64,
    pub cost_known: bool,
    pub usage: Usage,
    pub session_id: String,
    /// How it was reached.
    pub via: &'static str,
}

#[derive(Debug, Clone, Serialize)]
pub struct ErrorReport {
    pub class: ErrorClass,
    pub message: String,
    pub hint: String,
    pub retryable: bool,
}

/// The last attempt is the result; tokens and money are those of all.
pub(super) fn build(
    context: &Context,
    request: &Request,
    id: DispatchId,
    hops: AttemptLoop,
    began: Instant,
) -> DispatchReport {
    let attempts: Vec<AttemptReport> = hops.all().map(|made| attempt(&made.resolution, &made.outcome)).collect();
    let usage = hops.all().fold(Usage::default(), |sum, made| sum + made.outcome.usage);
    let cost: Nano = hops.all().map(|made| made.outcome.cost).sum();
    let cost_known = hops.all().all(|made| made.outcome.cost_known);
    let stopped = hops.all().all(|made| made.outcome.stopped);
    let AttemptLoop { last: Made { resolution, outcome }, mut warnings, .. } = hops;
    let error = outcome.result.as_ref().err().map(|failure| ErrorReport {
        class: failure.class,
        message: failure.message.clone(),
        hint: hint(request, failure.class),
        retryable: failure.class.retryable(),
    });
    let status = status_of(&outcome);
    let structured = outcome.result.ok().and_then(|(_, structured)| structured);
    let (text, full_text_path) = shorten(context, id, outcome.text, &mut warnings);
    // OpenCode reports the base model; the variant is the one that was asked for.
    let variant = &resolution.model.variant;
    let answered = outcome.answered_by.map(|model| ModelRef { variant: variant.clone(), ..model });
    DispatchReport {
        id,
        status,
        text,
        structured,
        model: answered.unwrap_or_else(|| resolution.model.clone()),
        requested: request.selector.to_json(),
        route: resolution,
        attempts,
        usage,
        cost_usd: cost.as_usd(),
        cost_known,
        duration_ms: millis(began.elapsed()),
        via: if outcome.session.is_empty() { "direct" } else { "opencode" },
        session_id: outcome.session,
        kept: outcome.kept,
        truncated: full_text_path.is_some(),
        full_text_path,
        warnings,
        error,
        stopped,
    }
}

/// What can be done about it. What was routed has tried the others already.
fn hint(request: &Request, class: ErrorClass) -> String {
    let routed = !request.selector.is_explicit() && request.selector != Selector::Default;
    if routed && class.hint().contains("--fallback") {
        return "nobody else could be asked: `shuntyard fallback` shows why; name a model with -m, or wait".to_owned();
    }
    class.hint().to_owned()
}

fn attempt(resolution: &Resolution, outcome: &Outcome) -> AttemptReport {
    AttemptReport {
        model: resolution.model.to_string(),
        status: status_of(outcome),
        error_class: outcome.result.as_ref().err().map(|failure| failure.class),
        message: outcome.result.as_ref().err().map(|failure| failure.message.clone()),
        duration_ms: millis(outcome.duration),
        cost_usd: outcome.cost.as_usd(),
        cost_known: outcome.cost_known,
        usage: outcome.usage,
        session_id: outcome.session.clone(),
        via: if outcome.session.is_empty() { "direct" } else { "opencode" },
    }
}

fn status_of(outcome: &Outcome) -> Status {
    match &outcome.result {
        Ok(_) => Status::Ok,
        Err(failure) if failure.class == ErrorClass::Timeout => Status::Timeout,
        Err(_) => Status::Error,
    }
}

/// A long answer is shown in part, with the whole of it in a private file.
fn shorten(context: &Context, id: DispatchId, text: String, warnings: &mut Vec<String>) -> (String, Option<PathBuf>) {
    let limit = context.config.dispatch.answer_limit;
    let Some((cut, _)) = text.char_indices().nth(limit) else { return (text, None) };
    let directory = context.paths.data_dir.join("answers");
    let file = directory.join(format!("{id}.txt"));
    if let Err(error) = private_dir(&directory).and_then(|()| write_private(&file, text.as_bytes())) {
        // Better too long than lost.
        warnings.push(format!("the answer is longer than {limit} characters and could not be saved: {error}"));
        return (text, None);
    }
    let whole = text.chars().count();
    warnings
        .push(format!("the answer has {whole} characters; the first {limit} are shown, all are in {}", file.display()));
    (text[..cut].to_owned(), Some(file))
}

fn millis(duration: std::time::Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
