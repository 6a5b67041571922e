//! Changing a worker: another model from now on, its own model again, or its end.

use super::{
    JobError,
    begin::policy_word,
    show::rfc3339,
    workers::{base_choice, draft, let_go, profile, standing},
};
use crate::Context;
use serde::Serialize;
use shuntyard_core::{
    values::{ModelPolicy, nearest::nearest},
    work::job::{Choice, JobState, Standing},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{JobFilter, WorkerRecord};
use std::path::Path;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Op {
    /// A model that stays until it is reset or, with the policy `Next`, is for the next message alone. A profile
    /// without a worker gets one. With `respawn` the conversation begins anew.
    ModelSet {
        worker: String,
        model: String,
        policy: ModelPolicy,
        respawn: bool,
    },
    ModelReset {
        worker: String,
        respawn: bool,
    },
    Stop {
        worker: String,
    },
}

/// A worker as callers see it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WorkerView {
    /// The same as its name.
    pub id: String,
    pub name: String,
    pub profile: String,
    pub directory: String,
    pub backend: String,
    /// `fresh`, `idle`, `busy`, `asleep` (its server has ended, and its conversation is resumed), `silent` or
    /// `stopped`.
    pub state: String,
    pub reference: String,
    pub model: String,
    pub policy: String,
    pub reason: String,
    /// The job that it is at work on, and how many wait.
    pub working_on: Option<String>,
    pub queued: usize,
    pub session: Option<String>,
    pub pid: Option<i64>,
    pub created_at: String,
    pub used_at: String,
}

/// Does what is asked, and returns the worker as it is then.
pub async fn operate(context: &Context, directory: &Path, op: &Op) -> Result<WorkerView, JobError> {
    let changed = match op {
        Op::ModelSet { .. } | Op::ModelReset { .. } => match with_model(context, directory, op).await? {
            Planned::New(worker) => {
                context.store.add_worker(&worker).await?;
                worker
            }
            Planned::Changed(worker) => {
                context.store.change_worker(&worker, now_micros()).await?;
                context.store.worker(&worker.name).await?
            }
        },
        Op::Stop { worker } => stop(context, directory, worker).await?,
    };
    worker_view(context, &changed).await
}

/// The worker as it would be then. Nothing is changed.
pub async fn would_be(context: &Context, directory: &Path, op: &Op) -> Result<WorkerView, JobError> {
    let changed = match op {
        Op::ModelSet { .. } | Op::ModelReset { .. } => match with_model(context, directory, op).await? {
            Planned::New(worker) | Planned::Changed(worker) => worker,
        },
        Op::Stop { worker } => find(context, directory, worker).await?,
    };
    worker_view(context, &changed).await
}

/// What is to be written.
enum Planned {
    New(WorkerRecord),
    Changed(WorkerRecord),
}

/// The worker with its other model, not yet written.
async fn with_model(context: &Context, directory: &Path, op: &Op) -> Result<Planned, JobError> {
    let (Op::ModelSet { worker: name, .. } | Op::ModelReset { worker: name, .. } | Op::Stop { worker: name }) = op;
    let (model, policy, respawn) = match op {
        Op::ModelSet { model, policy, respawn, .. } => (Some(model.as_str()), *policy, *respawn),
        Op::ModelReset { respawn, .. } => (None, ModelPolicy::Dynamic, *respawn),
        Op::Stop { .. } => (None, ModelPolicy::Dynamic, false),
    };
    let worker = match find(context, directory, name).await {
        Err(error) if error.class == "usage" && model.is_some() && context.config.profiles.contains_key(name) => {
            let (profile_name, settings) = profile(&context.config, name)?;
            let choice = base_choice(context, profile_name, &settings, directory, model).await?;
            let choice = Choice { policy, ..choice };
            let directory = directory.to_string_lossy();
            return draft(context, profile_name, &settings, &directory, settings.backend, choice)
                .await
                .map(Planned::New);
        }
        found => found?,
    };
    let (_, settings) = profile(&context.config, &worker.profile)?;
    let choice = base_choice(context, &worker.profile, &settings, Path::new(&worker.directory), model).await?;
    let worker = if respawn { WorkerRecord { session: None, server: None, process: None, ..worker } } else { worker };
    Ok(Planned::Changed(WorkerRecord {
        reference: choice.reference,
        model: choice.model.to_string(),
        policy,
        reason: choice.reason,
        ..worker
    }))
}

async fn stop(context: &Context, directory: &Path, name: &str) -> Result<WorkerRecord, JobError> {
    let worker = find(context, directory, name).await?;
    let running = JobFilter {
        states: vec![JobState::Running],
        worker: Some(worker.name.clone()),
        limit: 1,
        ..JobFilter::default()
    };
    let now = now_micros();
    let stopped = WorkerRecord { stopped_at: Some(now), reason: "it was stopped".to_owned(), ..worker };
    context.store.change_worker(&stopped, now).await?;
    // What it is at work on ends with it.
    for job in context.store.jobs(&running).await? {
        context.store.cancel_job(job.id, now_micros()).await?;
        super::ensure::ensure_runner(context)?;
    }
    let_go(context, &stopped).await;
    Ok(context.store.worker(&stopped.name).await?)
}

/// A worker by its name; a profile means the worker of that profile here.
async fn find(context: &Context, directory: &Path, name: &str) -> Result<WorkerRecord, JobError> {
    let workers = context.store.workers().await?;
    let live: Vec<&WorkerRecord> = workers.iter().filter(|worker| worker.stopped_at.is_none()).collect();
    let here = directory.to_string_lossy();
    let of_here = || live.iter().filter(|worker| worker.directory == here);
    let found =
        of_here().find(|worker| worker.name == name).or_else(|| of_here().find(|worker| worker.profile == name));
    if let Some(found) = found {
        return Ok((*found).clone());
    }
    if let Some(elsewhere) = live.iter().find(|worker| worker.name == name) {
        let message = format!("the worker {name} works in {}", elsewhere.directory);
        return Err(JobError::usage(message, "change it from there"));
    }
    let names: Vec<&str> = live.iter().map(|worker| worker.name.as_str()).collect();
    if context.config.profiles.contains_key(name) {
        let message = format!("no worker of the profile `{name}` is there yet");
        let hint = format!(
            "start one with task_start kind \"worker\" workerId \"{name}\"; for all of them set profiles.{name} in the configuration"
        );
        return Err(JobError::usage(message, hint));
    }
    let near = nearest(name, names.iter().copied(), 1).first().map(|near| format!(" (did you mean `{near}`?)"));
    let message = format!("there is no worker `{name}`{}", near.unwrap_or_default());
    // A model can be set for a profile before there is a worker of it.
    let profiles = context.config.profiles.keys().map(String::as_str).filter(|profile| !names.contains(profile));
    Err(JobError::choose(message, names.iter().copied().chain(profiles)))
}

/// All workers, the stopped ones only when asked for.
pub async fn workers(context: &Context, stopped_too: bool) -> Result<Vec<WorkerView>, JobError> {
    let mut views = Vec::new();
    for worker in context.store.workers().await? {
        if stopped_too || worker.stopped_at.is_none() {
            views.push(worker_view(context, &worker).await?);
        }
    }
    Ok(views)
}

async fn worker_view(context: &Context, worker: &WorkerRecord) -> Result<WorkerView, JobError> {
    let open = JobFilter {
        states: vec![JobState::Queued, JobState::Running],
        worker: Some(worker.name.clone()),
        limit: 1000,
        ..JobFilter::default()
    };
    let jobs = context.store.jobs(&open).await?;
    let working_on = jobs.iter().find(|job| job.state == JobState::Running).map(|job| job.id.to_string());
    let state = match standing(context, worker).await {
        Standing::Stopped => "stopped",
        _ if working_on.is_some() => "busy",
        Standing::Fresh => "fresh",
        Standing::Alive => "idle",
        Standing::Asleep => "asleep",
        Standing::Silent => "silent",
    };
    Ok(WorkerView {
        id: worker.name.clone(),
        name: worker.name.clone(),
        profile: worker.profile.clone(),
        directory: worker.directory.clone(),
        backend: worker.backend.as_str().to_owned(),
        state: state.to_owned(),
        reference: worker.reference.clone(),
        model: worker.model.clone(),
        policy: policy_word(worker.policy).to_owned(),
        reason: worker.reason.clone(),
        queued: jobs.iter().filter(|job| job.state == JobState::Queued).count(),
        working_on,
        session: worker.session.clone(),
        pid: worker.process.as_ref().map(|process| process.pid),
        created_at: rfc3339(worker.created_at),
        used_at: rfc3339(worker.used_at),
    })
}
