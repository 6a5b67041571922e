//! The answer of a person to a permission that the agent of a task asks for.

use super::change::{Became, ChangeError, With, change};
use crate::Context;
use shuntyard_core::work::task::{Event, PermissionReply, PermissionRequest, State, TaskId};
use shuntyard_host::clock::now_micros;
use shuntyard_store::TaskRecord;

#[derive(Debug, thiserror::Error)]
pub enum AnswerError {
    #[error("{task} is {state}: it waits for no permission")]
    NotAsking { task: TaskId, state: &'static str },
    #[error("{task} waits for another permission by now: {}", now.shown())]
    OtherRequest { task: TaskId, now: Box<PermissionRequest> },
    #[error("the request of {0} was answered before")]
    Answered(TaskId),
    #[error("the time to answer {0} is over: its agent goes on without the permission")]
    Late(TaskId),
    #[error(transparent)]
    Change(#[from] ChangeError),
}

/// Answers what the task asks for now or, when a request is named, only that one.
pub async fn answer(
    context: &Context,
    id: &TaskId,
    request: Option<&str>,
    answer: PermissionReply,
    by: &str,
) -> Result<(TaskRecord, PermissionRequest), AnswerError> {
    let record = context.store.task(id).await.map_err(ChangeError::from)?;
    let asked = open_request(&record, request)?;
    let event = Event::Answer { request: asked.id.clone(), answer, by: by.to_owned() };
    match change(context, id, &event, &With::default()).await {
        Ok(Became::Done(record)) => Ok((*record, asked)),
        // Only a claim takes slots or money.
        Ok(Became::NoSlot(_) | Became::NoMoney { .. }) => Err(ChangeError::Contended(id.clone()).into()),
        // It has changed since it was read.
        Err(ChangeError::Illegal(illegal)) => {
            let record = context.store.task(id).await.map_err(ChangeError::from)?;
            Err(open_request(&record, Some(&asked.id)).err().unwrap_or(ChangeError::Illegal(illegal).into()))
        }
        Err(error) => Err(error.into()),
    }
}

/// What a task waits for, if it can be answered now.
pub fn open_request(record: &TaskRecord, wanted: Option<&str>) -> Result<PermissionRequest, AnswerError> {
    let task = record.task.id.clone();
    match &record.task.state {
        State::Asking { request, .. } if wanted.is_some_and(|wanted| wanted != request.id) => {
            Err(AnswerError::OtherRequest { task, now: Box::new(request.clone()) })
        }
        State::Asking { answer: Some(_), .. } => Err(AnswerError::Answered(task)),
        State::Asking { until, .. } if *until <= now_micros() => Err(AnswerError::Late(task)),
        State::Asking { request, .. } => Ok(request.clone()),
        state => Err(AnswerError::NotAsking { task, state: state.name() }),
    }
}
