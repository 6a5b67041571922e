//! A dispatch whose text has been classified, if it is to be: with a server or without one, to its end.

use super::{
    Options, READY_WITHIN,
    attempt::{Run, twice},
    attempts::run_hops,
    learned::learned,
    prepare::{Directory, Prepared, check_locally, prepare, prepare_alone},
    report::{self, DispatchReport},
    server_handle::{ServerHandle, late, leave},
    session,
    transport::{Company, Way, needs_opencode},
};
use crate::{
    Context,
    base::refusal::Refusal,
    routing::{budget, catalogue::Settings},
    servers::{
        acquire, archive::archive_old_sessions, give_up, has_read, project_stamps, recovery::recover_abandoned,
        refresh_instance, retire_unreadable,
    },
};
use futures_util::future::BoxFuture;
use shuntyard_agents::opencode::{ApiError, Sink};
use shuntyard_core::{
    DispatchId,
    routing::{Classified, request::Request},
    settings::Via,
    values::Mode,
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{DispatchEnd, RunStatus};
use std::time::Instant;
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// Runs the request to its end. `classified` is what its text looks like, when the text itself may choose.
// Boxed, so that the body is compiled once and not in every crate that awaits it.
pub(super) fn run_dispatch<'a>(
    context: &'a Context,
    request: &'a Request,
    options: &'a Options,
    classified: Option<&'a Classified>,
    sink: &'a Sink,
    cancel: &'a CancellationToken,
    began: Instant,
) -> BoxFuture<'a, Result<DispatchReport, Refusal>> {
    Box::pin(async move {
        check_locally(&context.config, request)?;
        if options.via == Some(Via::Direct)
            && let Some(why) = needs_opencode(context, request)
        {
            return Err(Refusal::NotDirect(why.to_owned()));
        }
        if let Some(report) = without_server(context, request, options, classified, sink, cancel, began).await? {
            return Ok(report);
        }
        let want = session::wanted_server(context, request, options.slot.as_deref()).await?;
        let mut tries = 0;
        loop {
            let id = options.id.filter(|_| tries == 0).unwrap_or_else(|| DispatchId(Uuid::now_v7()));
            let acquired = tokio::select! {
                acquired = acquire(context, id, &want) => acquired?,
                () = cancel.cancelled() => return Err(Refusal::Cancelled),
            };
            tracing::debug!(%id, server = acquired.home, "a server is acquired");
            let managed = acquired.managed;
            let read_before = managed.is_some_and(|server| has_read(context, server, &request.directory));
            let server_handle = OnceCell::new_with(Some(ServerHandle::new(acquired, request)));
            let run = Run { context, request, options, classified, server_handle: &server_handle, id, sink, cancel };
            let result = on_server(run, began).await;
            let another_may_do = match (&result, managed) {
                (Err(Refusal::Api(error)), Some(server)) if error.is_server_lost() => {
                    give_up(context, server).await;
                    true
                }
                (Err(Refusal::Api(ApiError::Configuration { .. })), Some(server)) => {
                    // Only a server that has not read this directory before reports the files as they are now.
                    retire_unreadable(context, server, &request.directory).await && read_before
                }
                _ => false,
            };
            leave(server_handle, context, id).await;
            tries += 1;
            // Nothing has been sent to a model, so the request may go to another server.
            if another_may_do && tries < 2 {
                continue;
            }
            return result;
        }
    })
}

/// A dispatch whose model can be asked directly. It needs no server, unless another model has to be asked in the end.
async fn without_server(
    context: &Context,
    request: &Request,
    options: &Options,
    classified: Option<&Classified>,
    sink: &Sink,
    cancel: &CancellationToken,
    began: Instant,
) -> Result<Option<DispatchReport>, Refusal> {
    if !may_be_direct(context, request, options) {
        return Ok(None);
    }
    let id = options.id.unwrap_or_else(|| DispatchId(Uuid::now_v7()));
    let server_handle = OnceCell::new();
    let run = Run { context, request, options, classified, server_handle: &server_handle, id, sink, cancel };
    let Some(mut prepared) = prepare_alone(run).await? else { return Ok(None) };
    if matches!(run.way(&prepared.resolution.model), Way::OpenCode) {
        return Ok(None);
    }
    // Only now: a dispatch through a server checks for alerts itself, and each alert is given once.
    let warnings = budget::alert(context, &prepared.lines).await?;
    let result = conclude(run, &mut prepared, warnings, began).await;
    leave(server_handle, context, id).await;
    result.map(Some)
}

/// Whether it is worth looking: most requests can only go through OpenCode.
fn may_be_direct(context: &Context, request: &Request, options: &Options) -> bool {
    let set = |via: Via| via == Via::Direct || (via == Via::Auto && options.company == Company::Many);
    let wanted = options.via.map_or_else(|| context.config.via.values().copied().any(set), set);
    wanted && request.mode == Mode::Text && request.session.is_none() && !request.keep && request.agent.is_none()
}

/// The second half of `dispatch` on OpenCode, split so that the lease is always released.
async fn on_server(run: Run<'_>, began: Instant) -> Result<DispatchReport, Refusal> {
    let Run { context, request, cancel, .. } = run;
    let ServerHandle { acquired, client, .. } = late(run.server_handle, context, request, run.id).await?;
    let mut warnings = acquired.warnings.clone();
    let preparing = async {
        let stamps = project_stamps(&request.directory);
        let warning = refresh_instance(context, acquired.managed, client, &request.directory, &stamps).await;
        let directory = Directory { stamps: &stamps, settings: Settings::after(warning.as_ref()) };
        Ok::<_, Refusal>((prepare(run, client, acquired, &directory).await?, warning))
    };
    let (mut prepared, warning) = tokio::select! {
        prepared = tokio::time::timeout(READY_WITHIN, preparing) => {
            prepared.map_err(|_| Refusal::NotReady(shuntyard_core::values::duration::show(READY_WITHIN)))??
        }
        () = cancel.cancelled() => return Err(Refusal::Cancelled),
    };
    warnings.extend(warning);
    warnings.append(&mut prepared.told);
    tracing::debug!(model = %prepared.resolution.model, "the model is chosen");
    conclude(run, &mut prepared, warnings, began).await
}

/// Makes the attempts, and puts down what they came to.
async fn conclude(
    run: Run<'_>,
    prepared: &mut Prepared,
    warnings: Vec<String>,
    began: Instant,
) -> Result<DispatchReport, Refusal> {
    let Run { context, request, options, id, .. } = run;
    let mut hops = match run_hops(run, prepared).await {
        Ok(hops) => hops,
        Err(refusal) => {
            let status = RunStatus::Error;
            let end = DispatchEnd {
                at: now_micros(),
                status,
                error_class: None,
                warnings,
                route: None,
                outcomes: Vec::new(),
            };
            drop(context.store.finish_dispatch(id, &end).await);
            return Err(refusal);
        }
    };
    if let Some(ServerHandle { acquired, client, .. }) = run.server_handle.get()
        && acquired.managed.is_none()
    {
        // What a keeper does for its server is done here for one that has none.
        archive_old_sessions(context, client, &acquired.home).await;
        drop(recover_abandoned(context, None).await);
    }
    hops.warnings.extend(announced(context, options, prepared).await);
    let settled = hops.all().all(|made| made.outcome.settled);
    let moved = !hops.earlier.is_empty();
    hops.warnings.splice(0..0, warnings);
    let outcomes = learned(context, request, options, id, &hops);
    let mut report = report::build(context, request, id, hops, began);
    let end = DispatchEnd {
        at: now_micros(),
        status: report.status.into(),
        error_class: report.error.as_ref().map(|error| error.class),
        warnings: report.warnings.clone(),
        route: moved.then(|| serde_json::to_value(&report.route).unwrap_or_default()),
        outcomes,
    };
    // A dispatch whose attempt is not settled stays open, so that recovery finds it.
    if settled && let Err(error) = twice(|| context.store.finish_dispatch(id, &end)).await {
        report.warnings.push(format!("the dispatch could not be recorded: {error}"));
    }
    tracing::debug!(%id, settled, "the dispatch is recorded");
    Ok(report)
}

/// What is new about the limits after this dispatch. A failure to find that out must not cost the answer.
async fn announced(context: &Context, options: &Options, prepared: &Prepared) -> Vec<String> {
    if prepared.lines.is_empty() {
        return Vec::new();
    }
    let announced = async {
        let lines = budget::lines(context, options.concern()).await?;
        Ok::<_, Refusal>(budget::alert(context, &lines).await?)
    };
    announced.await.unwrap_or_else(|error| vec![format!("the budget could not be looked at: {error}")])
}
