//! `task_start` with the operation `task.answer`: whether the agent of a supervised task may do what it asks for.

use super::{
    answer::{Answer, named},
    arguments::Arguments,
    yard::Yard,
};
use shuntyard_core::work::task::{PermissionReply, TaskId};
use shuntyard_engine::queue::{
    jobs::{self, JobError},
    supervise::{self, AnswerError, ChangeError},
};
use shuntyard_store::ErrorKind;
use std::path::Path;

/// The author of the answer in the history of the task.
const BY: &str = "an MCP client";

pub async fn answer(yard: &Yard, arguments: &Arguments) -> Result<Answer, JobError> {
    const MEANT: [&str; 5] = ["kind", "op", "taskId", "answer", "requestId"];
    if let Some(other) = arguments.names().find(|name| !MEANT.contains(name)) {
        return Err(JobError::choose(format!("`{other}` means nothing for task.answer"), MEANT));
    }
    let Some(id) = arguments.text("taskId") else {
        return Err(JobError::usage(
            "`taskId` is missing",
            "name the task; task_list with status \"waiting\" has those that wait",
        ));
    };
    let Some(reply) = arguments.text("answer").and_then(|word| word.parse::<PermissionReply>().ok()) else {
        return Err(JobError::choose("`answer` is missing", PermissionReply::ALL.map(PermissionReply::as_str)));
    };
    let task: TaskId = id.parse().map_err(|_| JobError::unknown(id))?;
    let record = match yard.context.store.task(&task).await {
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(JobError::unknown(id)),
        found => found?,
    };
    if !yard.fence.reaches(Path::new(&record.task.spec.repository)) {
        let message = format!("{task} works on a repository outside of the directory that this server works for");
        return Err(JobError::usage(message, format!("the user answers with `shuntyard task answer {task}`")));
    }
    let answered =
        supervise::answer(&yard.context, &task, arguments.text("requestId"), reply, BY).await.map_err(refused)?;
    let view = jobs::peek(&yard.context, id).await?;
    Ok(Answer::new(format!("{task}: {reply}: {}", answered.1.shown()), named(&view)))
}

fn refused(error: AnswerError) -> JobError {
    match error {
        AnswerError::Change(ChangeError::Store(error)) => error.into(),
        other => JobError::usage(other.to_string(), "see how it stands with task_peek"),
    }
}
