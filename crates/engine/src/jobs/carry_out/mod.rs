//! Carrying out one claim of a job, to its end.

mod heard;
mod message;
mod steps;

use super::attach;
use crate::{
    Context, Options,
    batch::{Targets, expand, run_batch},
    dispatch::{DispatchReport, Refusal, SessionModel, dispatch},
};
use heard::Heard;
use serde_json::{Value, json};
use std::time::Duration;
use switchyard_core::{
    DispatchId,
    config::{Access, Capability},
    dispatch::{Mode, Request},
    duration::Limit,
    job::{JobKind, JobOrder, JobState},
    route::{Exchange, Selector},
    schema::AnswerSchema,
};
use switchyard_host::clock::now_micros;
use switchyard_store::{JobEnd, JobNote, JobRecord};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How a claim ended, and what is let go of once that is written.
#[derive(Debug)]
pub(super) struct Carried {
    pub end: JobEnd,
    pub leftovers: Leftovers,
}

/// Copies of attachments, which are of no use after the end.
#[derive(Debug, Default)]
pub(super) struct Leftovers(Vec<std::path::PathBuf>);

impl Drop for Leftovers {
    fn drop(&mut self) {
        attach::forget(&self.0);
    }
}

/// Does the work. A wish to cancel ends what runs on the server before this returns.
pub(super) async fn carry_out(context: &Context, job: JobRecord, cancel: &CancellationToken) -> Carried {
    let Some(order) = job.order.clone() else {
        return Carried {
            end: failed("usage", "its order was forgotten", "start it again"),
            leftovers: Leftovers::default(),
        };
    };
    let end = match job.kind {
        JobKind::Worker => message::run(context, &job, &order, cancel).await,
        JobKind::Dispatch => single(context, &job, &order, cancel).await,
        JobKind::Batch => several(context, &job, &order, cancel).await,
        JobKind::Workflow => steps::run(context, &job, &order, cancel).await,
    };
    let leftovers = match &end {
        JobEnd::Over { .. } => Leftovers(order.attachments),
        JobEnd::Paused { .. } | JobEnd::Again { .. } => Leftovers::default(),
    };
    Carried { end, leftovers }
}

/// The end of a job that brought its own process to a fault.
pub(super) fn broken(error: &tokio::task::JoinError) -> Carried {
    tracing::error!(%error, "a job broke off");
    let end = failed(
        "server_error",
        "it was broken off by a fault in switchyard itself",
        "see runner.log in the data directory under jobs",
    );
    Carried { end, leftovers: Leftovers::default() }
}

async fn single(context: &Context, job: &JobRecord, order: &JobOrder, cancel: &CancellationToken) -> JobEnd {
    let asked = match ask_of(order, job) {
        Ok(asked) => asked,
        Err(end) => return end,
    };
    let request = Request { session: order.session.clone(), keep: order.keep, system: order.system.clone(), ..asked };
    let options = Options { task_type: order.task_type.clone(), ..options_of(context, order, job, None) };
    ran(one(context, job, &request, &options, cancel).await, cancel)
}

/// What is common to every request of a job.
fn ask_of(order: &JobOrder, job: &JobRecord) -> Result<Request, JobEnd> {
    let Some(choice) = &job.choice else { return Err(failed("usage", "no model was chosen for it", "start it again")) };
    let attached = attach::load(&order.attachments).map_err(|problem| failed("usage", &problem, "attach it again"))?;
    let schema = match &order.schema {
        None => None,
        Some(schema) => match AnswerSchema::parse(&schema.to_string()) {
            Ok(schema) => Some(schema),
            Err(error) => return Err(failed("usage", &error.to_string(), "mend jsonSchema")),
        },
    };
    let mut prompt = format!("{}{}", order.prompt, attached.text);
    if job.epoch > 1 && order.mode == Mode::Agent && job.kind != JobKind::Workflow {
        prompt.push_str("\n\n(An earlier try at this was cut off. Look at what is already there before you begin.)");
    }
    let selector = Selector::Exact(choice.model.clone());
    Ok(Request { schema, images: attached.images, ..Request::plain(prompt, selector, order.mode, &order.directory) })
}

/// A model that somebody named stays; one that was routed may be exchanged when it fails.
fn options_of(context: &Context, order: &JobOrder, job: &JobRecord, timeout: Option<Limit>) -> Options {
    let selector = order.reference.as_deref().map(|reference| Selector::from_reference(reference, &context.config));
    let named = matches!(selector, Some(Ok(selector)) if selector.is_explicit());
    let own = order.timeout_ms.map(|millis| Limit(Some(Duration::from_millis(millis))));
    Options {
        id: Some(DispatchId(Uuid::now_v7())),
        timeout: own.or(timeout),
        exchange: if named { Exchange::Routed } else { Exchange::Asked },
        max_cost: order.max_cost,
        task: Some(job.id.to_string()),
        session_model: SessionModel::Any,
        ..Options::default()
    }
}

/// One dispatch for the job, noted before it begins, so that its end can be seen to whoever dies.
async fn one(
    context: &Context,
    job: &JobRecord,
    request: &Request,
    options: &Options,
    cancel: &CancellationToken,
) -> Result<DispatchReport, Refusal> {
    let note = JobNote { dispatch: options.id, ..JobNote::default() };
    match context.store.note_job(job.id, job.epoch, &note, now_micros()).await {
        Ok(true) => {}
        // Somebody else has it now.
        Ok(false) => return Err(Refusal::Cancelled),
        Err(error) => return Err(error.into()),
    }
    let heard = Heard::start(context, job, cancel);
    let result = dispatch(context, request, options, &heard.sink(), cancel).await;
    heard.end().await;
    result
}

async fn several(context: &Context, job: &JobRecord, order: &JobOrder, cancel: &CancellationToken) -> JobEnd {
    let attached = match attach::load(&order.attachments) {
        Ok(attached) => attached,
        Err(problem) => return failed("usage", &problem, "attach it again"),
    };
    let schema = order.schema.as_ref().map(|schema| AnswerSchema::parse(&schema.to_string())).transpose();
    let schema = match schema {
        Ok(schema) => schema,
        Err(error) => return failed("usage", &error.to_string(), "mend jsonSchema"),
    };
    let prompt = format!("{}{}", order.prompt, attached.text);
    let request = Request {
        schema,
        images: attached.images,
        system: order.system.clone(),
        ..Request::plain(prompt, Selector::Default, order.mode, &order.directory)
    };
    let options = Options { id: None, ..options_of(context, order, job, None) };
    let targets = Targets::Named(order.models.clone());
    let (targets, warnings) = match expand(context, &targets, request.needs(), &order.directory).await {
        Ok(found) => found,
        Err(refusal) => return refused(&refusal, cancel),
    };
    let heard = Heard::start(context, job, cancel);
    let show = heard.steps(targets.len());
    let mut report = run_batch(context, &request, &options, &targets, &*show, cancel).await;
    drop(show);
    heard.end().await;
    report.warnings.extend(warnings);
    if cancel.is_cancelled() {
        return cancelled(serde_json::to_value(&report).unwrap_or_default());
    }
    let state = if report.summary.ok > 0 { JobState::Done } else { JobState::Failed };
    JobEnd::Over { state, result: serde_json::to_value(&report).unwrap_or_default() }
}

fn ran(result: Result<DispatchReport, Refusal>, cancel: &CancellationToken) -> JobEnd {
    match result {
        Ok(report) => {
            let value = serde_json::to_value(&report).unwrap_or_default();
            if cancel.is_cancelled() {
                return cancelled(value);
            }
            let state = if report.error.is_none() { JobState::Done } else { JobState::Failed };
            JobEnd::Over { state, result: value }
        }
        Err(refusal) => refused(&refusal, cancel),
    }
}

fn refused(refusal: &Refusal, cancel: &CancellationToken) -> JobEnd {
    if cancel.is_cancelled() {
        return cancelled(json!({"text": ""}));
    }
    let class = refusal.class();
    let word = class.map_or("usage", switchyard_core::ErrorClass::as_str);
    failed(
        word,
        &refusal.to_string(),
        class.map_or("see task_list with view \"models\"", switchyard_core::ErrorClass::hint),
    )
}

/// The end of a cancelled claim. A runner that ends tells its jobs to end too; the store knows the difference.
fn cancelled(result: Value) -> JobEnd {
    JobEnd::Over { state: JobState::Cancelled, result }
}

fn failed(class: &str, message: &str, hint: &str) -> JobEnd {
    let error = json!({"class": class, "message": message, "hint": hint});
    JobEnd::Over { state: JobState::Failed, result: json!({"text": "", "error": error}) }
}

/// What a profile adds to a request.
fn as_profile(request: Request, system: &str, access: Access, needs: &[Capability]) -> Request {
    let system = Some(system.to_owned()).filter(|system| !system.is_empty());
    Request { system, access, capabilities: needs.to_vec(), ..request }
}
