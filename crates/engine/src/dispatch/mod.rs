//! One prompt to one model: checked, routed, run, judged, paid and recorded.

mod attempt;
mod prepare;
mod report;
mod session;

pub(crate) use attempt::fresh_message_id;
pub use prepare::{Refusal, check_locally};
pub use report::{AttemptReport, DispatchReport, ErrorReport, Status};

use crate::{
    Context,
    recover::recover_abandoned,
    server::{Acquired, Instance, acquire, give_up, release},
    tidy::tidy,
};
use attempt::{Attempt, run_attempt, twice};
use prepare::prepare;
use std::time::{Duration, Instant};
use switchyard_agents::opencode::Sink;
use switchyard_core::{DispatchId, dispatch::Request, duration::Limit};
use switchyard_host::clock::now_micros;
use switchyard_store::{DispatchEnd, RunStatus};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The first look at a directory can make OpenCode load plugins; more than this is a hang.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// What may differ from the configuration for one dispatch.
#[derive(Debug, Clone, Default)]
pub struct Options {
    pub timeout: Option<Limit>,
    pub steps: Option<u32>,
}

/// Runs the request to its end. A refusal means that nothing was sent to any model.
pub async fn dispatch(
    context: &Context,
    request: &Request,
    options: &Options,
    sink: &Sink,
    cancel: &CancellationToken,
) -> Result<DispatchReport, Refusal> {
    let began = Instant::now();
    check_locally(&context.config, request)?;
    let want = session::wanted_server(context, request).await?;
    let mut tries = 0;
    loop {
        let id = DispatchId(Uuid::now_v7());
        let acquired = tokio::select! {
            acquired = acquire(context, id, &want) => acquired?,
            () = cancel.cancelled() => return Err(Refusal::Cancelled),
        };
        tracing::debug!(%id, server = acquired.home, "a server is acquired");
        let result = on_server(context, request, options, sink, cancel, &acquired, id, began).await;
        let lost = matches!(&result, Err(Refusal::Api(error)) if error.is_server_lost());
        let managed = acquired.managed;
        if let (Some(server), true) = (managed, lost) {
            give_up(context, server).await;
        }
        release(context, acquired, id).await;
        tries += 1;
        // Nothing has been sent to a model: another server may take it.
        if lost && managed.is_some() && tries < 2 {
            continue;
        }
        return result;
    }
}

#[expect(
    clippy::too_many_arguments,
    reason = "the second half of `dispatch`, split so that the lease is always released"
)]
async fn on_server(
    context: &Context,
    request: &Request,
    options: &Options,
    sink: &Sink,
    cancel: &CancellationToken,
    acquired: &Acquired,
    id: DispatchId,
    began: Instant,
) -> Result<DispatchReport, Refusal> {
    let client = acquired.client.in_directory(&request.directory);
    let mut warnings = acquired.warnings.clone();
    let preparing = async {
        let instance = Instance::look(context, acquired.managed, &client, &request.directory).await;
        let prepared = prepare(context, request, &client, acquired, &instance).await?;
        Ok::<_, Refusal>((prepared, instance.warning))
    };
    let (prepared, warning) = tokio::select! {
        prepared = tokio::time::timeout(READY_WITHIN, preparing) => {
            prepared.map_err(|_| Refusal::NotReady(switchyard_core::duration::show(READY_WITHIN)))??
        }
        () = cancel.cancelled() => return Err(Refusal::Cancelled),
    };
    warnings.extend(warning);
    tracing::debug!(model = %prepared.route.model, "the model is chosen");
    warnings.extend(prepared.route.warnings.iter().cloned());
    let attempt =
        Attempt { context, request, options, client: &client, acquired, prepared: &prepared, id, sink, cancel };
    let outcome = run_attempt(&attempt).await;
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(refusal) => {
            let end = DispatchEnd { at: now_micros(), status: RunStatus::Error, error_class: None, warnings };
            drop(context.store.finish_dispatch(id, &end).await);
            return Err(refusal);
        }
    };
    warnings.extend(outcome.warnings.iter().cloned());
    if acquired.managed.is_none() {
        // What a keeper does for its server is done here for one that has none.
        tidy(context, &client, &acquired.home).await;
        drop(recover_abandoned(context, None).await);
    }
    let settled = outcome.settled;
    let mut report = report::build(context, request, &prepared.route, id, outcome, warnings, began);
    let end = DispatchEnd {
        at: now_micros(),
        status: report.status.into(),
        error_class: report.error.as_ref().map(|error| error.class),
        warnings: report.warnings.clone(),
    };
    // A dispatch whose attempt is not settled stays open, so that recovery finds it.
    if settled && let Err(error) = twice(|| context.store.finish_dispatch(id, &end)).await {
        report.warnings.push(format!("the dispatch could not be recorded: {error}"));
    }
    tracing::debug!(%id, settled, "the dispatch is recorded");
    Ok(report)
}
