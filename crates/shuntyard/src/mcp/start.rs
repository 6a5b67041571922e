//! `task_start`: work of any kind, and operations on a worker.

use super::{
    answer::{Answer, named},
    arguments::Arguments,
    permission, telling,
    yard::Yard,
};
use serde_json::Value;
use shuntyard_core::{
    values::{Backend, Mode, ModelPolicy, duration::Limit},
    work::job::Pause,
};
use shuntyard_engine::queue::jobs::{self, JobError, Op, Start, StartKind};
use std::{path::PathBuf, time::Duration};

pub async fn run(yard: &Yard, arguments: &Arguments) -> Result<Answer, JobError> {
    let kind = match arguments.text("kind") {
        None | Some("auto") => StartKind::Auto,
        Some("worker") => StartKind::Worker,
        Some("workflow") => StartKind::Workflow,
        Some("dispatch") => StartKind::Dispatch,
        Some("batch") => StartKind::Batch,
        Some("supervised") => StartKind::Supervised,
        Some(_) => return operate(yard, arguments).await,
    };
    for name in ["op", "respawn", "policy", "taskId", "answer", "requestId"] {
        if arguments.has(name) {
            return Err(JobError::usage(format!("`{name}` means nothing without kind \"op\""), "set kind to \"op\""));
        }
    }
    let start = order(yard, kind, arguments)?;
    let started = jobs::start(&yard.context, &start).await?;
    Ok(Answer::new(telling::started(&started), named(&started)))
}

fn order(yard: &Yard, kind: StartKind, arguments: &Arguments) -> Result<Start, JobError> {
    let goes_on = kind == StartKind::Workflow && arguments.has("runId");
    let Some(task) = arguments.text("task").or(goes_on.then_some("")) else {
        return Err(JobError::usage("`task` is missing", "say in `task` what is to be done"));
    };
    if arguments.has("mode") && !matches!(kind, StartKind::Dispatch | StartKind::Batch) {
        return Err(JobError::usage(
            "`mode` is for kind \"dispatch\" and \"batch\"",
            "leave it out: a worker has its own",
        ));
    }
    let directory = yard.fence.directory(arguments.text("directory"))?;
    Ok(Start {
        worker: arguments.owned("workerId"),
        model: arguments.owned("model"),
        policy: match arguments.text("modelPolicy") {
            Some("sticky") => ModelPolicy::Sticky,
            _ => ModelPolicy::Dynamic,
        },
        task_type: arguments.owned("taskType"),
        attachments: arguments.texts("attachments").into_iter().map(PathBuf::from).collect(),
        timeout: arguments.time("timeout").map(deadline),
        force_new: arguments.switch("forceNew").unwrap_or_default(),
        backend: arguments.text("backend").and_then(Backend::parse),
        system: arguments.owned("systemPrompt"),
        schema: arguments.json("jsonSchema"),
        mode: match arguments.text("mode") {
            Some("agent") => Mode::Agent,
            Some("command") => Mode::Command,
            _ => Mode::Text,
        },
        models: arguments.texts("models"),
        workflow: arguments.owned("workflow"),
        run: arguments.owned("runId"),
        pause: if arguments.switch("pauseEachStep") == Some(true) { Pause::EachStep } else { Pause::Never },
        verify: arguments.texts("verify"),
        deliver: arguments.owned("deliver"),
        base: arguments.owned("base"),
        ..Start::plain(kind, task, directory)
    })
}

/// Longer than anything lasts, where no timer is wanted.
pub const NO_TIMER: Duration = Duration::from_secs(30 * 24 * 3600);

pub fn deadline(limit: Limit) -> Duration {
    limit.0.unwrap_or(NO_TIMER)
}

async fn operate(yard: &Yard, arguments: &Arguments) -> Result<Answer, JobError> {
    if arguments.text("op") == Some("task.answer") {
        return permission::answer(yard, arguments).await;
    }
    const MEANT: [&str; 7] = ["kind", "op", "workerId", "model", "policy", "respawn", "directory"];
    if let Some(other) = arguments.names().find(|name| !MEANT.contains(name)) {
        return Err(JobError::choose(format!("`{other}` means nothing for kind \"op\""), MEANT));
    }
    let Some(op) = arguments.text("op") else {
        return Err(JobError::choose("`op` is missing", super::tools::OPS.iter().copied()));
    };
    let Some(worker) = arguments.owned("workerId") else {
        return Err(JobError::usage("`workerId` is missing", "name the worker; see task_list with view \"workers\""));
    };
    let respawn = arguments.switch("respawn").unwrap_or_default();
    let model = arguments.owned("model");
    let op = match (op, model) {
        ("worker.model.set", Some(model)) => {
            let dynamic = arguments.text("policy") == Some("dynamic");
            let policy = if dynamic { ModelPolicy::Next } else { ModelPolicy::Sticky };
            Op::ModelSet { worker, model, policy, respawn }
        }
        (_, _) if arguments.has("policy") => {
            return Err(JobError::usage(format!("`policy` means nothing for {op}"), "it is for worker.model.set"));
        }
        ("worker.model.set", None) => {
            return Err(JobError::usage("worker.model.set needs `model`", "give provider/model, a tier or a tag"));
        }
        (_, Some(_)) => {
            return Err(JobError::usage(format!("`model` means nothing for {op}"), "it is for worker.model.set"));
        }
        ("worker.stop", None) if arguments.has("respawn") => {
            return Err(JobError::usage("`respawn` means nothing for worker.stop", "leave it out"));
        }
        ("worker.stop", None) => Op::Stop { worker },
        (_, None) => Op::ModelReset { worker, respawn },
    };
    let directory = yard.fence.directory(arguments.text("directory"))?;
    let view = named(&jobs::operate(&yard.context, &directory, &op).await?);
    let word = |name: &str| view.get(name).and_then(Value::as_str).unwrap_or("?").to_owned();
    let line = format!("worker {} {}: {} ({})", word("name"), word("state"), word("model"), word("policy"));
    let reason = view.get("reason").and_then(Value::as_str).map(|reason| format!("\n{reason}"));
    Ok(Answer::new(format!("{line}{}", reason.unwrap_or_default()), view))
}
