//! Starting work: checked, given to a model with a reason, and queued. Another process executes it.

use super::{
    JobError, Start, StartKind, Started, attach,
    check::check,
    ensure::ensure_runner,
    pick::{Wish, needs_of, pick},
    supervised,
    workers::{Call, assign_worker, profile},
};
use crate::{
    Context,
    fanout::batch::{Targets, expand},
};
use shuntyard_core::{
    routing::Needs,
    settings::WorkerProfile,
    values::{ModelPolicy, WorkflowStep, nearest::nearest},
    work::job::{Choice, JobId, JobKind, JobOrder, pick_profile},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::NewJob;

/// Starts what is asked for, and returns at once which model has it and why.
pub async fn start(context: &Context, start: &Start) -> Result<Started, JobError> {
    check(context, start)?;
    match start.kind {
        StartKind::Supervised => supervised::start(context, start).await,
        StartKind::Workflow => match &start.run {
            Some(run) => go_on(context, run).await,
            None => workflow(context, start).await,
        },
        StartKind::Auto | StartKind::Worker => message(context, start).await,
        StartKind::Dispatch => single(context, start).await,
        StartKind::Batch => several(context, start).await,
    }
}

/// A message to a worker.
async fn message(context: &Context, start: &Start) -> Result<Started, JobError> {
    let taken = attach::take(context, &start.directory, &start.attachments)?;
    let attachments = taken.copies.clone();
    let images = attach::images(&attachments);
    let mut notes = Vec::new();
    let name = match (&start.worker, start.kind) {
        (Some(name), _) => name.clone(),
        (None, StartKind::Auto) => {
            let picked = pick_profile(&context.config, &start.task, images);
            notes.push(format!("profile {}: {}", picked.profile, picked.reason));
            picked.profile
        }
        (None, _) => {
            let known = context.config.profiles.keys().cloned();
            return Err(JobError::choose("which worker? give workerId, or kind \"auto\"", known));
        }
    };
    let is_sticky = start.policy == ModelPolicy::Sticky;
    if start.model.is_some() || images > 0 {
        // Before a worker is made for a message that no model can be given to.
        could_do(context, start, &name, images).await?;
    }
    let call = Call {
        name: &name,
        directory: &start.directory,
        backend: start.backend,
        force_new: start.force_new,
        sticky: start.model.as_deref().filter(|_| is_sticky),
        names_model: start.model.is_some(),
    };
    let assigned = assign_worker(context, &call).await?;
    notes.extend(assigned.notes);
    let worker = assigned.worker;
    // A model for this message alone, or an image that the worker's own model has to be able to see.
    let reference = start.model.as_deref().filter(|_| !is_sticky).or(assigned.next.as_deref());
    let own = Some(worker.reference.as_str()).filter(|_| worker.policy == ModelPolicy::Sticky);
    let wish = Wish {
        reference: reference.or(own),
        profile: Some(&worker.profile),
        task_type: None,
        text: &start.task,
        needs: needs_of(&assigned.profile, images),
        directory: &start.directory,
        policy: if reference.is_some() { ModelPolicy::Dynamic } else { worker.policy },
    };
    let choice = pick(context, &wish).await?;
    let mut reference = reference.map(str::to_owned);
    if reference.is_none() && choice.model.to_string() != worker.model {
        notes.push(format!("{} cannot do this message; {} does it", worker.model, choice.model));
        reference = Some(choice.model.to_string());
    }
    let order = JobOrder {
        reference,
        policy: start.policy,
        attachments,
        schema: start.schema.clone(),
        max_cost: start.max_cost,
        timeout_ms: millis(start),
        ..JobOrder::plain(start.task.clone(), assigned.profile.mode, start.directory.clone())
    };
    let started = put(context, JobKind::Worker, order, Some(choice), Some(worker.name.clone()), notes).await?;
    taken.keep();
    Ok(Started { profile: Some(worker.profile), ..started })
}

/// Refuses a message whose own model, or whose images, its profile cannot have.
async fn could_do(context: &Context, start: &Start, name: &str, images: usize) -> Result<(), JobError> {
    let live = context.store.worker(name).await.ok().filter(|worker| worker.stopped_at.is_none());
    let (profile_name, settings) = profile(&context.config, live.as_ref().map_or(name, |worker| &worker.profile))?;
    let own =
        live.as_ref().filter(|worker| worker.policy != ModelPolicy::Dynamic).map(|worker| worker.reference.as_str());
    let wish = Wish {
        reference: start.model.as_deref().or(own),
        profile: Some(profile_name),
        task_type: None,
        text: &start.task,
        needs: needs_of(&settings, images),
        directory: &start.directory,
        policy: start.policy,
    };
    pick(context, &wish).await.map(drop)
}

async fn single(context: &Context, start: &Start) -> Result<Started, JobError> {
    let taken = attach::take(context, &start.directory, &start.attachments)?;
    let attachments = taken.copies.clone();
    let tools = start.mode == shuntyard_core::values::Mode::Agent;
    let needs =
        Needs { images: attach::images(&attachments), tools, structured: start.schema.is_some(), ..Needs::default() };
    let wish = Wish {
        reference: start.model.as_deref(),
        profile: None,
        task_type: start.task_type.as_deref(),
        text: &start.task,
        needs,
        directory: &start.directory,
        policy: ModelPolicy::Dynamic,
    };
    let choice = pick(context, &wish).await?;
    let order = JobOrder {
        reference: start.model.clone(),
        attachments,
        task_type: start.task_type.clone(),
        system: start.system.clone(),
        schema: start.schema.clone(),
        session: start.session.clone(),
        keep: start.keep,
        max_cost: start.max_cost,
        timeout_ms: millis(start),
        ..JobOrder::plain(start.task.clone(), start.mode, start.directory.clone())
    };
    let started = put(context, JobKind::Dispatch, order, Some(choice), None, Vec::new()).await?;
    taken.keep();
    Ok(started)
}

async fn several(context: &Context, start: &Start) -> Result<Started, JobError> {
    let taken = attach::take(context, &start.directory, &start.attachments)?;
    let attachments = taken.copies.clone();
    let needs = Needs { images: attach::images(&attachments), structured: start.schema.is_some(), ..Needs::default() };
    let targets = Targets::Named(start.models.clone());
    let (found, mut notes) = expand(context, &targets, needs, &start.directory).await?;
    let usable: Vec<String> =
        found.iter().filter_map(|one| one.chosen.as_ref().ok().map(ToString::to_string)).collect();
    for one in &found {
        if let Err(refusal) = &one.chosen {
            notes.push(format!("{} is left out: {refusal}", one.name));
        }
    }
    if usable.is_empty() {
        return Err(JobError::usage(
            format!("none of the models can be asked: {}", notes.join("; ")),
            "see task_list with view \"models\"",
        ));
    }
    // The models are fixed now, so that the process that executes the job asks those that were promised, whatever their
    // names mean to it.
    let models = found.iter().map(|one| one.chosen.as_ref().map_or_else(|_| one.name.clone(), ToString::to_string));
    let order = JobOrder {
        models: models.collect(),
        attachments,
        system: start.system.clone(),
        schema: start.schema.clone(),
        max_cost: start.max_cost,
        timeout_ms: millis(start),
        ..JobOrder::plain(start.task.clone(), start.mode, start.directory.clone())
    };
    let started = put(context, JobKind::Batch, order, None, None, notes).await?;
    taken.keep();
    Ok(Started { model: Some(usable.join(", ")), reason: Some("named".into()), ..started })
}

async fn workflow(context: &Context, start: &Start) -> Result<Started, JobError> {
    let config = &context.config;
    let known: Vec<&str> = config.workflows.keys().map(String::as_str).collect();
    let name = match &start.workflow {
        Some(name) => name.as_str(),
        None if known.len() == 1 => known[0],
        None => return Err(JobError::choose("which workflow?", known)),
    };
    let Some(workflow) = config.workflows.get(name) else {
        let near = nearest(name, known.iter().copied(), 1).first().map(|near| format!(" (did you mean `{near}`?)"));
        return Err(JobError::choose(format!("there is no workflow `{name}`{}", near.unwrap_or_default()), known));
    };
    let mut notes = Vec::new();
    let mut steps: Vec<WorkflowStep> = Vec::new();
    let mut choices: Vec<Choice> = Vec::new();
    // Every step is checked now: a missing model of the last one must not be found after the others were paid.
    for step in &workflow.steps {
        let (profile_name, settings): (_, WorkerProfile) = profile(config, &step.profile)?;
        let wish = Wish {
            reference: start.model.as_deref().or(step.model.as_deref()),
            profile: Some(profile_name),
            task_type: None,
            text: &start.task,
            needs: needs_of(&settings, 0),
            directory: &start.directory,
            policy: ModelPolicy::Dynamic,
        };
        let choice = pick(context, &wish).await?;
        notes.push(format!("{}: {} on {} ({})", step.name, profile_name, choice.model, choice.reason));
        steps.push(step.clone());
        choices.push(choice);
    }
    let order = JobOrder {
        workflow: Some(name.to_owned()),
        steps,
        choices: choices.clone(),
        pause: start.pause,
        max_cost: start.max_cost,
        timeout_ms: millis(start),
        ..JobOrder::plain(start.task.clone(), shuntyard_core::values::Mode::Agent, start.directory.clone())
    };
    put(context, JobKind::Workflow, order, choices.into_iter().next(), None, notes).await
}

/// Goes on with a workflow that was paused.
async fn go_on(context: &Context, run: &str) -> Result<Started, JobError> {
    let id: JobId = run.parse().map_err(|_| JobError::unknown(run))?;
    let job = match context.store.job(id).await {
        Ok(job) => job,
        Err(error) if error.kind() == shuntyard_store::ErrorKind::NotFound => return Err(JobError::unknown(run)),
        Err(error) => return Err(error.into()),
    };
    if job.kind != JobKind::Workflow {
        return Err(JobError::usage(
            format!("{run} is no workflow, it is a {}", job.kind.as_str()),
            "await it with task_await",
        ));
    }
    if job.state != shuntyard_core::work::job::JobState::Paused {
        let message = format!("{run} is {}, not paused", job.state.as_str());
        return Err(JobError::usage(message, "only a paused workflow can be continued; see task_peek"));
    }
    context.store.continue_job(id, now_micros()).await?;
    ensure_runner(context)?;
    told(context, id, JobKind::Workflow, job.choice, None, Vec::new()).await
}

async fn put(
    context: &Context,
    kind: JobKind,
    order: JobOrder,
    choice: Option<Choice>,
    worker: Option<String>,
    mut notes: Vec<String>,
) -> Result<Started, JobError> {
    if let Some(choice) = &choice {
        notes.extend(choice.warnings.iter().cloned());
    }
    let server = Some(context.config.server.url.clone()).filter(|url| !url.is_empty());
    let order = JobOrder { server, ..order };
    let job = NewJob { kind, order, choice: choice.clone(), worker: worker.clone(), at: now_micros() };
    let id = context.store.add_job(&job).await?;
    ensure_runner(context)?;
    told(context, id, kind, choice, worker, notes).await
}

async fn told(
    context: &Context,
    id: JobId,
    kind: JobKind,
    choice: Option<Choice>,
    worker: Option<String>,
    notes: Vec<String>,
) -> Result<Started, JobError> {
    let position = context.store.job_position(id).await?;
    let policy = choice.as_ref().map(|choice| policy_word(choice.policy).to_owned());
    Ok(Started {
        id: id.to_string(),
        kind: kind.as_str().to_owned(),
        status: if position.is_some() { "queued" } else { "running" }.to_owned(),
        worker,
        profile: None,
        position,
        reference: choice.as_ref().map(|choice| choice.reference.clone()),
        model: choice.as_ref().map(|choice| choice.model.to_string()),
        policy,
        reason: choice.map(|choice| choice.reason),
        notes,
    })
}

pub(super) fn policy_word(policy: ModelPolicy) -> &'static str {
    match policy {
        ModelPolicy::Dynamic | ModelPolicy::Next => "dynamic",
        ModelPolicy::Sticky => "sticky",
    }
}

fn millis(start: &Start) -> Option<u64> {
    start.timeout.and_then(|timeout| u64::try_from(timeout.as_millis()).ok())
}
