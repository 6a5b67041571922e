//! From rows to what a caller sees.

use super::{JobError, JobView, begin::policy_word};
use crate::Context;
use jiff::Timestamp;
use serde_json::{Value, json};
use shuntyard_core::work::{
    job::{JobId, JobState},
    task::{Phase, TaskId},
};
use shuntyard_store::{ErrorKind, JobRecord, SpendKey, SpendKind, TaskRecord};

/// Of what was asked, so much is shown again.
const SHOWN: usize = 200;

/// The present state of a job or a supervised task.
pub async fn peek(context: &Context, id: &str) -> Result<JobView, JobError> {
    if let Ok(job) = id.parse::<JobId>() {
        match context.store.job(job).await {
            Ok(record) => return of_job(context, record).await,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error.into()),
        }
    }
    let task: TaskId = id.parse().map_err(|_| JobError::unknown(id))?;
    match context.store.task(&task).await {
        Ok(record) => of_task(context, &record).await,
        Err(error) if error.kind() == ErrorKind::NotFound => Err(JobError::unknown(id)),
        Err(error) => Err(error.into()),
    }
}

pub(super) async fn of_job(context: &Context, job: JobRecord) -> Result<JobView, JobError> {
    let position = if job.state == JobState::Queued { context.store.job_position(job.id).await? } else { None };
    Ok(view(job, position))
}

pub(super) fn view(job: JobRecord, position: Option<u32>) -> JobView {
    let result = job.result.unwrap_or_default();
    let order = job.order;
    let text = |key: &str| result[key].as_str().filter(|text| !text.is_empty()).map(str::to_owned);
    let answered = model_of(&result["model"]);
    let (is_over, choice) = (job.state.is_over(), job.choice);
    let chosen = choice.as_ref().map(|choice| choice.model.to_string());
    let steps = result["steps"].as_array().or_else(|| job.progress["done"].as_array());
    let steps: Vec<Value> = steps.map(|steps| steps.iter().map(step).collect()).unwrap_or_default();
    let answers = result["results"].as_array().map(|results| results.iter().map(answer).collect()).unwrap_or_default();
    let summary = if result["summary"].is_object() {
        &result["summary"]
    } else if result["cost_usd"].is_null() {
        &job.progress
    } else {
        &result
    };
    let cost_known =
        summary["cost_known"].as_bool().or_else(|| summary["cost_unknown"].as_bool().map(|unknown| !unknown));
    let waiting = if job.cancel_asked_at.is_some() && !is_over { Some("is being cancelled".to_owned()) } else { None };
    JobView {
        id: job.id.to_string(),
        kind: job.kind.as_str().to_owned(),
        status: job.state.as_str().to_owned(),
        over: is_over,
        task: order.as_ref().map(|order| shorten(&order.prompt)).unwrap_or_default(),
        directory: order.as_ref().map(|order| order.directory.display().to_string()).unwrap_or_default(),
        worker: job.worker,
        position,
        reference: choice.as_ref().map(|choice| choice.reference.clone()),
        model: answered.or(chosen),
        policy: choice.as_ref().map(|choice| policy_word(choice.policy).to_owned()),
        reason: choice.map(|choice| choice.reason),
        progress: waiting.or_else(|| job.progress["heard"].as_str().filter(|_| !is_over).map(str::to_owned)),
        steps,
        text: text("text"),
        structured: Some(result["structured"].clone()).filter(|value| !value.is_null()),
        answers,
        error: Some(result["error"].clone()).filter(Value::is_object),
        warnings: words(&result["warnings"]).into_iter().chain(text("why")).collect(),
        cost_usd: summary["cost_usd"].as_f64(),
        cost_known: cost_known.unwrap_or(false),
        session_id: text("session_id"),
        full_text_path: text("full_text_path"),
        created_at: rfc3339(job.created_at),
        started_at: job.started_at.map(rfc3339),
        ended_at: job.ended_at.map(rfc3339),
        forgotten: is_over && order.is_none(),
    }
}

/// A step that is over: it was done, or not needed.
fn step(step: &Value) -> Value {
    let mut told = step.clone();
    if let Some(fields) = told.as_object_mut() {
        let status = if step["text"].is_null() { "skipped" } else { "done" };
        fields.insert("status".to_owned(), json!(status));
    }
    told
}

/// `provider/model[@variant]` of the form that a report has.
fn model_of(value: &Value) -> Option<String> {
    let model: shuntyard_core::ModelRef = serde_json::from_value(value.clone()).ok()?;
    Some(model.to_string())
}

fn answer(result: &Value) -> Value {
    let model = model_of(&result["model"]).or_else(|| result["requested"]["model"].as_str().map(str::to_owned));
    json!({"model": model, "status": result["status"], "text": result["text"], "error": result["error"],
        "cost_usd": result["cost_usd"], "duration_ms": result["duration_ms"]})
}

fn words(value: &Value) -> Vec<String> {
    value
        .as_array()
        .map(|list| list.iter().filter_map(|one| one.as_str().map(str::to_owned)).collect())
        .unwrap_or_default()
}

pub(super) async fn of_task(context: &Context, record: &TaskRecord) -> Result<JobView, JobError> {
    let task = &record.task;
    let phase = task.state.phase();
    let runs = context.store.runs(&task.id).await?;
    let last = runs.last();
    let key = SpendKey { kind: SpendKind::Task, name: task.id.to_string() };
    let spent = context.store.spent(&key, i64::MIN, i64::MAX).await?;
    let is_over = matches!(phase, Phase::Done | Phase::Failed | Phase::Cancelled | Phase::Blocked);
    let why = crate::queue::supervise::why(context, record).await.unwrap_or_else(|_| task.state.reason());
    let told = if phase == Phase::Done {
        Some(format!("{}; branch {}", task.state.reason(), last.and_then(|run| run.branch.clone()).unwrap_or_default()))
    } else {
        None
    };
    let failed = matches!(phase, Phase::Failed | Phase::Blocked);
    let hint = format!("see `shuntyard task why {0}`; try again with `shuntyard task retry {0}`", task.id);
    Ok(JobView {
        id: task.id.to_string(),
        kind: "supervised".to_owned(),
        status: phase.as_str().to_owned(),
        over: is_over,
        task: shorten(&task.spec.description),
        directory: task.spec.repository.clone(),
        worker: None,
        position: None,
        reference: task.spec.model.clone().or_else(|| task.spec.tier.clone()),
        model: last.and_then(|run| run.answered.clone().or_else(|| run.model.clone())),
        policy: None,
        reason: None,
        progress: (!is_over).then_some(why),
        steps: Vec::new(),
        text: told,
        structured: record.receipt.clone(),
        answers: Vec::new(),
        error: failed.then(|| json!({"class": phase.as_str(), "message": task.state.reason(), "hint": hint})),
        warnings: Vec::new(),
        cost_usd: Some(spent.cost.as_usd()),
        cost_known: spent.unknown == 0,
        session_id: None,
        full_text_path: None,
        created_at: rfc3339(task.created_at),
        started_at: runs.first().and_then(|run| run.started_at).map(rfc3339),
        ended_at: is_over.then(|| rfc3339(task.changed_at)),
        forgotten: false,
    })
}

pub(super) fn shorten(text: &str) -> String {
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if flat.chars().count() <= SHOWN { flat } else { format!("{}…", flat.chars().take(SHOWN).collect::<String>()) }
}

pub(super) fn rfc3339(at: i64) -> String {
    Timestamp::from_microsecond(at).unwrap_or_default().to_string()
}
