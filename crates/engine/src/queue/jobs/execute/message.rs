//! A message to a worker: in its conversation, on its model or on one for this message alone.

use super::{as_profile, ask_of, failed, one, options_of, ran, refused};
use crate::{
    Context, Options,
    base::refusal::Refusal,
    dispatch::DispatchReport,
    queue::jobs::{
        attach,
        pick::{Wish, needs_of, pick},
        workers::{own_slot, settings_of},
    },
};
use shuntyard_core::{
    routing::request::Request,
    settings::WorkerProfile,
    values::Mode,
    work::job::{Choice, Exchange, JobOrder, JobState, recap},
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{ErrorKind, JobEnd, JobFilter, JobRecord, WorkerRecord};
use std::path::Path;
use tokio_util::sync::CancellationToken;

/// Jobs that are searched for earlier messages.
const LOOKED_AT: u32 = 50;

pub(super) async fn run(context: &Context, job: &JobRecord, order: &JobOrder, cancel: &CancellationToken) -> JobEnd {
    let Some(name) = &job.worker else { return failed("usage", "it has no worker", "start it again") };
    let worker = match context.store.worker(name).await {
        Ok(worker) if worker.stopped_at.is_none() => worker,
        _ => return failed("usage", &format!("the worker {name} was stopped"), "start it again"),
    };
    let settings = settings_of(context, &worker.profile);
    let choice = match chosen(context, job, order, &worker, &settings).await {
        Ok(choice) => choice,
        Err(end) => return end,
    };
    let job = JobRecord { choice: Some(choice), ..job.clone() };
    let request = match ask_of(order, &job) {
        Ok(request) => as_profile(request, &settings.system, settings.access, &settings.needs),
        Err(end) => return end,
    };
    let request = Request { session: worker.session.clone(), keep: true, ..request };
    let options = Options { slot: own_slot(&worker), ..options_of(order, &job, settings.timeout) };
    let result = match one(context, &job, &request, &options, cancel).await {
        // Its conversation was lost with its server; a worker without one is better than none.
        Err(Refusal::UnknownSession(_) | Refusal::ElsewhereSession { .. }) if request.session.is_some() => {
            let (prompt, told) = match remembered(context, &worker, &request.prompt, request.mode).await {
                Some(prompt) => (prompt, "was lost; a new one began with a summary of it"),
                None => (request.prompt.clone(), "was lost, and a new one began without it"),
            };
            let fresh = Request { session: None, prompt, ..request };
            let subject = Some(order.prompt.clone());
            let options = Options { slot: own_slot(&worker), subject, ..options_of(order, &job, settings.timeout) };
            one(context, &job, &fresh, &options, cancel).await.map(|mut report| {
                report.warnings.push(format!("the conversation of this worker {told}"));
                report
            })
        }
        other => other,
    };
    match result {
        Ok(report) => {
            remember(context, &worker, &report).await;
            ran(Ok(report), cancel)
        }
        Err(refusal) => refused(&refusal, cancel),
    }
}

/// The message with a record of the conversation, as far as the jobs of this worker have it.
async fn remembered(context: &Context, worker: &WorkerRecord, message: &str, mode: Mode) -> Option<String> {
    // A command is its own text, and nothing can precede it.
    let session = worker.session.as_deref().filter(|_| mode != Mode::Command)?;
    let filter = JobFilter {
        states: vec![JobState::Done],
        worker: Some(worker.name.clone()),
        limit: LOOKED_AT,
        ..JobFilter::default()
    };
    let jobs = context.store.jobs(&filter).await.ok()?;
    let exchange = |job: JobRecord| {
        let result = job.result.filter(|result| result["session_id"] == session)?;
        Some(Exchange { asked: job.order?.prompt, answered: result["text"].as_str()?.to_owned() })
    };
    recap(&jobs.into_iter().filter_map(exchange).collect::<Vec<_>>(), message)
}

/// The model for this message: the one that was promised for it alone, else the one that the worker has by now.
async fn chosen(
    context: &Context,
    job: &JobRecord,
    order: &JobOrder,
    worker: &WorkerRecord,
    settings: &WorkerProfile,
) -> Result<Choice, JobEnd> {
    let promised =
        job.choice.clone().filter(|choice| order.reference.is_some() || choice.model.to_string() == worker.model);
    if let Some(promised) = promised {
        return Ok(promised);
    }
    let wish = Wish {
        reference: Some(worker.model.as_str()),
        profile: Some(&worker.profile),
        task_type: None,
        text: &order.prompt,
        needs: needs_of(settings, attach::images(&order.attachments)),
        directory: Path::new(&worker.directory),
        policy: worker.policy,
    };
    match pick(context, &wish).await {
        Ok(choice) => Ok(Choice { reference: worker.reference.clone(), reason: worker.reason.clone(), ..choice }),
        Err(error) => Err(failed(&error.class, &error.message, &error.hint)),
    }
}

/// Notes where the conversation is, so that the next message goes on with it.
async fn remember(context: &Context, worker: &WorkerRecord, report: &DispatchReport) {
    if report.session_id.is_empty() || !report.kept {
        return;
    }
    let home = context.store.session(&report.session_id).await.map(|session| session.home).unwrap_or_default();
    let servers = context.store.servers().await.unwrap_or_default();
    let server = servers.into_iter().find(|server| server.slot == home);
    let (server, process) = server.map_or((None, None), |server| (Some(server.id), server.process));
    // Another process may give it another model at the same moment; that stays.
    for _ in 0..5 {
        let Ok(current) = context.store.worker(&worker.name).await else { return };
        // Meanwhile it was set to begin anew, or there is another of its name.
        let is_another = current.created_at != worker.created_at;
        if is_another || (current.session != worker.session && current.session.is_none()) {
            return;
        }
        let changed = WorkerRecord {
            session: Some(report.session_id.clone()),
            server,
            process: process.clone(),
            used_at: now_micros(),
            ..current
        };
        match context.store.change_worker(&changed, now_micros()).await {
            Err(error) if error.kind() == ErrorKind::Conflict => {}
            Err(error) => return tracing::warn!(%error, "a worker's conversation could not be noted"),
            Ok(()) => return,
        }
    }
}
