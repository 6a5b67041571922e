//! The registry of workers: which one takes a message, and when another has to be made.
//!
//! Invariant: a worker takes a message only when it is what the message needs, and answers.

use super::{
    JobError,
    fault::CONFLICT,
    pick::{Wish, needs_of, pick},
};
use crate::{
    Context,
    base::owner::is_gone,
    servers::{OWN_SLOT, endpoint_of, give_up},
};
use sha2::{Digest as _, Sha256};
use shuntyard_agents::opencode::Client;
use shuntyard_core::{
    settings::{Config, WorkerProfile},
    values::{Backend, ModelPolicy, nearest::nearest},
    work::job::{Choice, Found, JobState, Mismatch, Standing, Wanted, reusable},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{ErrorKind, JobFilter, WorkerRecord};
use std::{path::Path, time::Duration};

/// How long a worker may take to show that it answers.
const PROBE: Duration = Duration::from_secs(3);
/// Two callers that make a worker of one name at the same moment: the later tries again.
const TRIES: usize = 8;

/// What a message asks of its worker.
#[derive(Debug, Clone, Copy)]
pub(super) struct Call<'a> {
    /// A worker by name, or a profile.
    pub name: &'a str,
    pub directory: &'a Path,
    pub backend: Option<Backend>,
    pub force_new: bool,
    /// Another model from now on.
    pub sticky: Option<&'a str>,
    /// Whether the message names a model for itself alone.
    pub names_model: bool,
}

/// The worker that takes the message, the model that it has, and notes about it.
#[derive(Debug)]
pub(super) struct AssignedWorker {
    pub worker: WorkerRecord,
    pub profile: WorkerProfile,
    pub notes: Vec<String>,
    /// The model that was set for its next message, which is this one.
    pub next: Option<String>,
}

/// The settings of a profile. One without any works with the ordinary ones.
pub(super) fn profile<'a>(config: &'a Config, name: &str) -> Result<(&'a str, WorkerProfile), JobError> {
    match config.profiles.get_key_value(name) {
        Some((name, _)) => Ok((name, config.workers.get(name).cloned().unwrap_or_default())),
        None => {
            let known: Vec<&str> = config.profiles.keys().map(String::as_str).collect();
            let near = nearest(name, known.iter().copied(), 1).first().map(|near| format!(" (did you mean `{near}`?)"));
            let message = format!("there is no worker or profile `{name}`{}", near.unwrap_or_default());
            Err(JobError::choose(message, known))
        }
    }
}

/// The settings of a profile that was there when the work began.
pub(super) fn settings_of(context: &Context, profile: &str) -> WorkerProfile {
    context.config.workers.get(profile).cloned().unwrap_or_default()
}

/// Finds a worker for the message, or makes one.
pub(super) async fn assign_worker(context: &Context, call: &Call<'_>) -> Result<AssignedWorker, JobError> {
    let mut refused = None;
    for _ in 0..TRIES {
        match try_seat(context, call).await {
            // Another process made or changed one at the same moment.
            Err(error) if error.class == CONFLICT => refused = Some(error),
            other => return other,
        }
    }
    Err(refused.unwrap_or_else(|| JobError::unavailable("no worker could be made", "try again")))
}

async fn try_seat(context: &Context, call: &Call<'_>) -> Result<AssignedWorker, JobError> {
    let workers = context.store.workers().await?;
    let named = workers.iter().find(|worker| worker.name == call.name && worker.stopped_at.is_none());
    let (profile_name, settings) = profile(&context.config, named.map_or(call.name, |worker| &worker.profile))?;
    let directory = call.directory.to_string_lossy().into_owned();
    if let Some(named) = named.filter(|named| named.directory != directory && named.name != named.profile) {
        let message = format!("the worker {} works in {}", named.name, named.directory);
        return Err(JobError::usage(message, "start it from there, or name its profile instead"));
    }
    let backend = call.backend.unwrap_or(settings.backend);
    let fingerprint = fingerprint(&settings);
    let base = base_choice(context, profile_name, &settings, call.directory, call.sticky).await?;
    let mut notes = Vec::new();
    let mut inherited = None;
    if !call.force_new {
        let mine = workers.iter().filter(|worker| {
            worker.profile == profile_name && worker.stopped_at.is_none() && worker.directory == directory
        });
        let wished =
            |worker: &&WorkerRecord| named.is_none_or(|named| named.name == worker.name || named.name == profile_name);
        for worker in mine.filter(wished) {
            let expected = expected(context, worker, &base, call.sticky, &settings).await?;
            let wanted = Wanted {
                profile: profile_name.to_owned(),
                directory: directory.clone(),
                backend: call.backend.unwrap_or(worker.backend),
                model: expected.model.to_string(),
                policy: expected.policy,
                fingerprint: fingerprint.clone(),
            };
            let found = Found { wanted: as_found(worker), standing: standing(context, worker).await };
            match reusable(&found, &wanted) {
                Ok(()) => {
                    if found.standing == Standing::Asleep {
                        require_room(context, &workers, worker.backend)?;
                        notes.push(format!("the server of {} has ended; its conversation is resumed", worker.name));
                    }
                    let takes_next = worker.policy == ModelPolicy::Next && !call.names_model;
                    let next = takes_next.then(|| worker.reference.clone());
                    // Taken before the message is there: of two at the same moment one has it.
                    let worker = if takes_next { set_model(context, worker, &base).await? } else { worker.clone() };
                    return Ok(AssignedWorker { worker, profile: settings, notes, next });
                }
                // The conversation goes on; only its model is another from now on.
                Err(Mismatch::Model | Mismatch::Policy) if call.sticky.is_some() => {
                    let changed = set_model(context, worker, &expected).await?;
                    return Ok(AssignedWorker { worker: changed, profile: settings, notes, next: None });
                }
                Err(mismatch) => {
                    notes.push(format!("{} is not used: {}", worker.name, mismatch.reason()));
                    if worker.policy == ModelPolicy::Sticky && call.sticky.is_none() {
                        inherited = Some(expected);
                    }
                    retire(context, worker, mismatch).await?;
                }
            }
        }
    }
    let worker = draft(context, profile_name, &settings, &directory, backend, inherited.unwrap_or(base)).await?;
    context.store.add_worker(&worker).await?;
    notes.push(format!("a new worker was made: {}", worker.name));
    Ok(AssignedWorker { worker, profile: settings, notes, next: None })
}

/// The model that the worker should have: what was set for good, else what its profile means now.
async fn expected(
    context: &Context,
    worker: &WorkerRecord,
    base: &Choice,
    sticky: Option<&str>,
    settings: &WorkerProfile,
) -> Result<Choice, JobError> {
    if sticky.is_some() || worker.policy == ModelPolicy::Dynamic {
        return Ok(base.clone());
    }
    let directory = Path::new(&worker.directory);
    let choice = base_choice(context, &worker.profile, settings, directory, Some(&worker.reference)).await?;
    Ok(Choice { policy: worker.policy, ..choice })
}

pub(super) async fn base_choice(
    context: &Context,
    profile: &str,
    settings: &WorkerProfile,
    directory: &Path,
    sticky: Option<&str>,
) -> Result<Choice, JobError> {
    let wish = Wish {
        reference: sticky,
        profile: Some(profile),
        task_type: None,
        text: "",
        needs: needs_of(settings, 0),
        directory,
        policy: if sticky.is_some() { ModelPolicy::Sticky } else { ModelPolicy::Dynamic },
    };
    pick(context, &wish).await
}

fn as_found(worker: &WorkerRecord) -> Wanted {
    Wanted {
        profile: worker.profile.clone(),
        directory: worker.directory.clone(),
        backend: worker.backend,
        model: worker.model.clone(),
        policy: worker.policy,
        fingerprint: worker.fingerprint.clone(),
    }
}

/// Of all that makes a worker what it is besides its model.
fn fingerprint(settings: &WorkerProfile) -> String {
    let text = format!("{:?} {:?} {:?} {}", settings.mode, settings.access, settings.needs, settings.system);
    Sha256::digest(text.as_bytes()).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

/// Whether a worker's process is still the one that it was, and answers.
pub(super) async fn standing(context: &Context, worker: &WorkerRecord) -> Standing {
    if worker.stopped_at.is_some() {
        return Standing::Stopped;
    }
    let (Some(_), Some(process)) = (&worker.session, &worker.process) else { return Standing::Fresh };
    if is_gone(process) {
        return Standing::Asleep;
    }
    let servers = context.store.servers().await.unwrap_or_default();
    let Some(server) = servers.into_iter().find(|server| Some(server.id) == worker.server) else {
        return Standing::Asleep;
    };
    let client = endpoint_of(context, &server).ok().and_then(|endpoint| Client::new(&endpoint).ok());
    let Some(client) = client else { return Standing::Asleep };
    match client.health(PROBE).await {
        Ok(health) if health.healthy => Standing::Alive,
        _ => Standing::Silent,
    }
}

/// A worker that cannot be used again goes, unless it still has work in its line.
async fn retire(context: &Context, worker: &WorkerRecord, mismatch: Mismatch) -> Result<(), JobError> {
    let dead = matches!(mismatch, Mismatch::Silent | Mismatch::Stopped);
    let changed = matches!(mismatch, Mismatch::Model | Mismatch::Fingerprint | Mismatch::Policy | Mismatch::Backend);
    if !dead && !changed {
        return Ok(());
    }
    let open = JobFilter {
        states: vec![JobState::Queued, JobState::Running],
        worker: Some(worker.name.clone()),
        limit: 1,
        ..JobFilter::default()
    };
    if !context.store.jobs(&open).await?.is_empty() {
        return Ok(());
    }
    let now = now_micros();
    let stopped = WorkerRecord { stopped_at: Some(now), reason: mismatch.reason().to_owned(), ..worker.clone() };
    match context.store.change_worker(&stopped, now).await {
        // Another process was faster, and takes care of it.
        Err(error) if error.kind() == ErrorKind::Conflict => Ok(()),
        other => {
            other?;
            let_go(context, worker).await;
            Ok(())
        }
    }
}

/// A server that was a worker's alone is of no other use.
pub(super) async fn let_go(context: &Context, worker: &WorkerRecord) {
    if let (Backend::Server, Some(server)) = (worker.backend, worker.server) {
        give_up(context, server).await;
    }
}

/// Whether another worker with a server, or with a place on the shared one, may be at work.
fn require_room(context: &Context, workers: &[WorkerRecord], backend: Backend) -> Result<(), JobError> {
    // One whose server has ended does not count.
    let takes_room =
        |worker: &&WorkerRecord| worker.stopped_at.is_none() && !worker.process.as_ref().is_some_and(is_gone);
    let live: Vec<&WorkerRecord> = workers.iter().filter(takes_room).collect();
    let own = live.iter().filter(|worker| worker.backend == Backend::Server).count();
    let jobs = &context.config.jobs;
    let (most, setting, count) = match backend {
        Backend::Server if own >= jobs.most_servers => (jobs.most_servers, "jobs.most_servers", own),
        _ => (jobs.most_workers, "jobs.most_workers", live.len()),
    };
    if count >= most {
        let names: Vec<&str> = live.iter().map(|worker| worker.name.as_str()).collect();
        let hint = format!(
            "stop one that is not needed (op worker.stop), or raise {setting}; there are: {}",
            names.join(", ")
        );
        return Err(JobError::usage(format!("there are {count} workers already, at most {most}"), hint));
    }
    Ok(())
}

/// A worker that is still to be added, under a name that is free.
pub(super) async fn draft(
    context: &Context,
    profile: &str,
    settings: &WorkerProfile,
    directory: &str,
    backend: Backend,
    choice: Choice,
) -> Result<WorkerRecord, JobError> {
    let workers = context.store.workers().await?;
    require_room(context, &workers, backend)?;
    let taken = |name: &str| workers.iter().any(|worker| worker.name == name && worker.stopped_at.is_none());
    let names = std::iter::once(profile.to_owned()).chain((2..).map(|number| format!("{profile}-{number}")));
    let name = names.into_iter().find(|name| !taken(name)).unwrap_or_else(|| profile.to_owned());
    let now = now_micros();
    Ok(WorkerRecord {
        name,
        profile: profile.to_owned(),
        directory: directory.to_owned(),
        backend,
        reference: choice.reference,
        model: choice.model.to_string(),
        policy: choice.policy,
        reason: choice.reason,
        fingerprint: fingerprint(settings),
        session: None,
        server: None,
        process: None,
        stopped_at: None,
        created_at: now,
        used_at: now,
        version: 1,
    })
}

/// Gives a worker another model. Its conversation stays.
pub(super) async fn set_model(
    context: &Context,
    worker: &WorkerRecord,
    choice: &Choice,
) -> Result<WorkerRecord, JobError> {
    let changed = WorkerRecord {
        reference: choice.reference.clone(),
        model: choice.model.to_string(),
        policy: choice.policy,
        reason: choice.reason.clone(),
        ..worker.clone()
    };
    context.store.change_worker(&changed, now_micros()).await?;
    Ok(context.store.worker(&worker.name).await?)
}

/// The name of the server that a worker has for itself.
pub(super) fn own_slot(worker: &WorkerRecord) -> Option<String> {
    (worker.backend == Backend::Server).then(|| format!("{OWN_SLOT}{}", worker.name))
}
