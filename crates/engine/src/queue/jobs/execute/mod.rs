//! Executing one claim of a job, to its end.

mod message;
mod progress;
mod steps;

use super::attach;
use crate::{
    Context, Options,
    base::refusal::Refusal,
    dispatch::{ChosenFor, DispatchReport, SessionModel, dispatch},
    fanout::batch::{Targets, expand, run_batch},
    servers::recovery::is_stopped,
};
use progress::ProgressRecorder;
use serde_json::{Value, json};
use shuntyard_core::{
    DispatchId, Nano,
    routing::{Exchange, Selector, request::Request},
    values::{Access, Capability, Mode, duration::Limit, schema::AnswerSchema},
    work::job::{Choice, JobKind, JobOrder, JobState, TierPart},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{JobEnd, JobNote, JobRecord, SpendKey, SpendKind, StoreError};
use std::time::Duration;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How long a run is asked to end: five minutes.
const STOP_TRIES: u32 = 150;
const STOP_PAUSE: Duration = Duration::from_secs(2);

/// Does the work. A wish to cancel ends what runs on the server before this returns.
pub(super) async fn execute(context: &Context, job: JobRecord, cancel: &CancellationToken) -> JobEnd {
    let Some(mut order) = job.order.clone() else {
        return failed("usage", "its order was forgotten", "start it again");
    };
    let mut context = context.clone();
    // The server that its caller named, whatever this process was started with.
    context.config.server.url = order.server.clone().unwrap_or_default();
    if job.kind != JobKind::Workflow {
        order.max_cost = match left(&context, &job, order.max_cost).await {
            Ok(left) => left,
            Err(error) => return refused(&error.into(), cancel),
        };
    }
    match job.kind {
        JobKind::Worker => message::run(&context, &job, &order, cancel).await,
        JobKind::Dispatch => single(&context, &job, &order, cancel).await,
        JobKind::Batch => several(&context, &job, &order, cancel).await,
        JobKind::Workflow => steps::run(&context, &job, &order, cancel).await,
    }
}

/// The end of a job that brought its own process to a fault.
pub(super) fn broken(error: &tokio::task::JoinError) -> JobEnd {
    tracing::error!(%error, "a job broke off");
    let hint = "see runner.log in the data directory under jobs";
    failed("server_error", "it was broken off by a fault in shuntyard itself", hint)
}

/// What is left of the money that the job may cost, after all that ran for it before: a process that died while it
/// carried the job out has spent some of it.
async fn left(context: &Context, job: &JobRecord, most: Option<Nano>) -> Result<Option<Nano>, StoreError> {
    let Some(most) = most else { return Ok(None) };
    let key = SpendKey::new(SpendKind::Task, job.id.to_string());
    let spent = context.store.spent(&key, i64::MIN, i64::MAX).await?;
    Ok(Some(most.less(spent.cost)))
}

async fn single(context: &Context, job: &JobRecord, order: &JobOrder, cancel: &CancellationToken) -> JobEnd {
    let asked = match ask_of(order, job) {
        Ok(asked) => asked,
        Err(end) => return end,
    };
    let request = Request { session: order.session.clone(), keep: order.keep, system: order.system.clone(), ..asked };
    let options = Options { task_type: order.task_type.clone(), ..options_of(order, job, None) };
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
            Err(error) => return Err(failed("usage", &error.to_string(), "fix jsonSchema")),
        },
    };
    let mut prompt = format!("{}{}", order.prompt, attached.text);
    if job.epoch > 1 && order.mode == Mode::Agent && job.kind != JobKind::Workflow {
        prompt.push_str("\n\n(An earlier try at this was cut off. Look at what is already there before you begin.)");
    }
    let selector = Selector::Exact(choice.model.clone());
    Ok(Request { schema, images: attached.images, ..Request::plain(prompt, selector, order.mode, &order.directory) })
}

/// A model that the caller named stays; one that was routed may be exchanged when it fails.
fn options_of(order: &JobOrder, job: &JobRecord, timeout: Option<Limit>) -> Options {
    let named = job.choice.as_ref().is_some_and(|choice| choice.named);
    let own = order.timeout_ms.map(|millis| Limit((millis > 0).then(|| Duration::from_millis(millis))));
    Options {
        id: Some(DispatchId(Uuid::now_v7())),
        timeout: own.or(timeout),
        exchange: if named { Exchange::Routed } else { Exchange::Asked },
        max_cost: order.max_cost,
        task: Some(job.id.to_string()),
        session_model: SessionModel::Any,
        chosen_for: job.choice.as_ref().and_then(chosen_for),
        ..Options::default()
    }
}

/// How the model came to be asked for, when a tier had a part in it.
fn chosen_for(choice: &Choice) -> Option<ChosenFor> {
    let TierPart { rule, taken, requested } = choice.tier.clone()?;
    Some(ChosenFor { rule, tier: taken, requested_tier: requested, reason: choice.reason.clone(), requested: None })
}

/// One dispatch for the job, recorded before it begins, so that its end can be settled whichever process dies.
async fn one(
    context: &Context,
    job: &JobRecord,
    request: &Request,
    options: &Options,
    cancel: &CancellationToken,
) -> Result<DispatchReport, Refusal> {
    let note = JobNote { dispatch: options.id, choice: job.choice.clone(), ..JobNote::default() };
    match context.store.note_job(job.id, job.epoch, &note, now_micros()).await {
        Ok(true) => {}
        // The job has a newer claim.
        Ok(false) => return Err(Refusal::Cancelled),
        Err(error) => return Err(error.into()),
    }
    let heard = ProgressRecorder::start(context, job, cancel);
    let result = dispatch(context, request, options, &heard.sink(), cancel).await;
    heard.end().await;
    if let Ok(report) = &result
        && !report.stopped
    {
        until_stopped(context, report.id).await;
    }
    result
}

/// A server that does not obey is asked again and again: what is called ended has ended.
async fn until_stopped(context: &Context, dispatch: DispatchId) {
    for _ in 0..STOP_TRIES {
        match is_stopped(context, dispatch).await {
            Ok(true) => return,
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "whether a run has ended cannot be seen"),
        }
        tokio::time::sleep(STOP_PAUSE).await;
    }
    tracing::warn!(%dispatch, "a run could not be ended");
}

async fn several(context: &Context, job: &JobRecord, order: &JobOrder, cancel: &CancellationToken) -> JobEnd {
    let attached = match attach::load(&order.attachments) {
        Ok(attached) => attached,
        Err(problem) => return failed("usage", &problem, "attach it again"),
    };
    let schema = order.schema.as_ref().map(|schema| AnswerSchema::parse(&schema.to_string())).transpose();
    let schema = match schema {
        Ok(schema) => schema,
        Err(error) => return failed("usage", &error.to_string(), "fix jsonSchema"),
    };
    let prompt = format!("{}{}", order.prompt, attached.text);
    let request = Request {
        schema,
        images: attached.images,
        system: order.system.clone(),
        ..Request::plain(prompt, Selector::Default, order.mode, &order.directory)
    };
    let options = Options { id: None, ..options_of(order, job, None) };
    let targets = Targets::Named(order.models.clone());
    let (targets, warnings) = match expand(context, &targets, request.needs(), &order.directory).await {
        Ok(found) => found,
        Err(refusal) => return refused(&refusal, cancel),
    };
    let heard = ProgressRecorder::start(context, job, cancel);
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
    let word = class.map_or("usage", shuntyard_core::ErrorClass::as_str);
    failed(
        word,
        &refusal.to_string(),
        class.map_or("see task_list with view \"models\"", shuntyard_core::ErrorClass::hint),
    )
}

/// The end of a claim that was cut off. A runner that ends cancels its jobs too; the store knows whether a caller
/// wanted that, or whether the job is to be done again.
fn cancelled(result: Value) -> JobEnd {
    JobEnd::CutOff { why: "the process that carried it out was ended".to_owned(), result }
}

fn failed(class: &str, message: &str, hint: &str) -> JobEnd {
    let error = json!({"class": class, "message": message, "hint": hint});
    JobEnd::Over { state: JobState::Failed, result: json!({"text": "", "error": error}) }
}

fn as_profile(request: Request, system: &str, access: Access, needs: &[Capability]) -> Request {
    let system = Some(system.to_owned()).filter(|system| !system.is_empty());
    Request { system, access, capabilities: needs.to_vec(), ..request }
}
