//! The Tasks extension of the protocol: a client that has it gets a task in place of the answer of a call that may take
//! long, and polls it when it likes. Such a task is one of our jobs, with the job's id; so it outlives this server.

use super::{
    answer::{Answer, Outcome},
    dispatch, telling,
};
use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, CreateTaskResult, DetailedTask, JsonObject, Task, TaskPayload, TaskStatus},
};
use serde_json::Value;
use shuntyard_core::settings::Config;
use shuntyard_engine::queue::jobs::{JobError, JobView};

/// How often a client should ask.
const POLL_MS: u64 = 2000;

pub fn result_of(answer: Answer) -> CallToolResult {
    let content = vec![ContentBlock::text(answer.text)];
    let mut result = match answer.outcome {
        Outcome::Fine => CallToolResult::success(content),
        Outcome::Failed => CallToolResult::error(content),
    };
    result.structured_content = Some(Value::Object(answer.data));
    result
}

pub fn created(config: &Config, view: &JobView) -> CreateTaskResult {
    CreateTaskResult::new(task(config, view, TaskStatus::Working))
}

/// The state of a task, with the answer of the call once it is over.
pub fn detailed(config: &Config, view: &JobView) -> DetailedTask {
    let payload = match (view.over, view.status.as_str()) {
        (false, _) => TaskPayload::Working,
        (true, "cancelled") => TaskPayload::Cancelled,
        (true, _) => TaskPayload::Completed { result: object(&result_of(dispatch::told(view, &[]))) },
    };
    DetailedTask::new(task(config, view, payload.status()), payload)
}

fn task(config: &Config, view: &JobView, status: TaskStatus) -> Task {
    let changed = view.ended_at.as_ref().or(view.started_at.as_ref()).unwrap_or(&view.created_at);
    let task = Task::new(view.id.clone(), status, view.created_at.clone(), changed.clone())
        .with_status_message(telling::headline(view))
        .with_poll_interval_ms(POLL_MS);
    match config.jobs.keep.0.and_then(|keep| u64::try_from(keep.as_millis()).ok()) {
        Some(keep) => task.with_ttl_ms(keep),
        None => task,
    }
}

fn object(result: &CallToolResult) -> JsonObject {
    match serde_json::to_value(result) {
        Ok(Value::Object(fields)) => fields,
        _ => JsonObject::new(),
    }
}

/// Of what is asked about a task by the protocol, not by a tool.
pub fn protocol_error(error: &JobError) -> ErrorData {
    let message =
        if error.hint.is_empty() { error.message.clone() } else { format!("{}; {}", error.message, error.hint) };
    match error.class.as_str() {
        "unavailable" => ErrorData::internal_error(message, None),
        _ => ErrorData::invalid_params(message, None),
    }
}
