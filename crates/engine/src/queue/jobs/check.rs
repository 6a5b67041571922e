//! What can be refused before anything is looked at: texts that are missing or too long, and arguments that the kind of
//! work has no use for. An argument that is silently ignored is a promise that is broken.

use super::{JobError, Start, StartKind};
use crate::Context;
use shuntyard_core::{
    values::{Backend, ModelPolicy},
    work::job::Pause,
};

const MESSAGES: &[StartKind] = &[StartKind::Auto, StartKind::Worker];

pub(super) fn check(context: &Context, start: &Start) -> Result<(), JobError> {
    let goes_on = start.kind == StartKind::Workflow && start.run.is_some();
    if start.task.trim().is_empty() && !goes_on {
        return Err(JobError::usage("the task is empty", "say in `task` what is to be done"));
    }
    if goes_on {
        let alone = start.task.trim().is_empty()
            && start.model.is_none()
            && start.workflow.is_none()
            && start.timeout.is_none()
            && start.max_cost.is_none()
            && start.pause == Pause::Never;
        if !alone {
            let hint = "a run goes on as it was ordered; for another order start another workflow";
            return Err(JobError::usage("`runId` goes alone", hint));
        }
    }
    let jobs = &context.config.jobs;
    let (most, setting) = match start.kind {
        StartKind::Workflow => (jobs.workflow_task_chars, "jobs.workflow_task_chars"),
        _ => (jobs.task_chars, "jobs.task_chars"),
    };
    let length = start.task.chars().count();
    if length > most {
        let message = format!("the task has {length} characters, at most {most} are taken");
        return Err(JobError::usage(message, format!("put long material into a file and name it, or raise {setting}")));
    }
    if !start.directory.is_dir() {
        let message = format!("the directory {} does not exist", start.directory.display());
        return Err(JobError::usage(message, "give a directory of this machine"));
    }
    if start.kind == StartKind::Batch && start.models.is_empty() {
        return Err(JobError::usage(
            "a batch needs `models`",
            "such as [\"node:fast\", \"opus\"]; see task_list with view \"models\"",
        ));
    }
    if start.backend == Some(Backend::Server) && !context.config.server.url.is_empty() {
        let hint = "leave `backend` out: all workers live on the server that the configuration names";
        return Err(JobError::usage("a worker cannot have a server of its own on a server that was named", hint));
    }
    if start.policy == ModelPolicy::Sticky && start.model.is_none() {
        return Err(JobError::usage(
            "modelPolicy \"sticky\" needs a `model`",
            "give the model that the worker is to stay with",
        ));
    }
    match given(start).into_iter().find(|(is_given, _, kinds)| *is_given && !kinds.contains(&start.kind)) {
        None => Ok(()),
        Some((_, name, kinds)) => {
            let kinds: Vec<&str> = kinds.iter().map(|kind| kind.as_str()).collect();
            let message = format!("`{name}` means nothing for kind \"{}\"", start.kind.as_str());
            Err(JobError::usage(message, format!("it is for: {}", kinds.join(", "))))
        }
    }
}

/// Each argument that is not for all: whether it was given, and which kinds have a use for it.
fn given(start: &Start) -> [(bool, &'static str, &'static [StartKind]); 17] {
    use StartKind::{Auto, Batch, Dispatch, Supervised, Worker, Workflow};
    [
        (start.worker.is_some(), "workerId", &[Worker]),
        (start.force_new, "forceNew", MESSAGES),
        (start.backend.is_some(), "backend", MESSAGES),
        (start.policy == ModelPolicy::Sticky, "modelPolicy", MESSAGES),
        (start.model.is_some(), "model", &[Auto, Worker, Workflow, Dispatch, Supervised]),
        (start.task_type.is_some(), "taskType", &[Dispatch, Supervised]),
        (!start.attachments.is_empty(), "attachments", &[Auto, Worker, Dispatch, Batch]),
        (start.system.is_some(), "systemPrompt", &[Dispatch, Batch]),
        (start.schema.is_some(), "jsonSchema", &[Auto, Worker, Dispatch, Batch]),
        (start.session.is_some(), "sessionId", &[Dispatch]),
        (!start.models.is_empty(), "models", &[Batch, Supervised]),
        (start.workflow.is_some(), "workflow", &[Workflow]),
        (start.run.is_some(), "runId", &[Workflow]),
        (start.pause != Pause::Never, "pauseEachStep", &[Workflow]),
        (!start.verify.is_empty(), "verify", &[Supervised]),
        (start.deliver.is_some(), "deliver", &[Supervised]),
        (start.base.is_some(), "base", &[Supervised]),
    ]
}
