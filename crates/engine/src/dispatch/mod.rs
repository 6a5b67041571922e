//! One prompt, one answer: checked, routed, run, judged, paid and recorded.

mod attempt;
mod chosen;
mod hops;
mod notes;
mod prepare;
mod refusal;
mod report;
mod session;
mod station;

pub(crate) use attempt::fresh_message_id;
pub use chosen::ChosenFor;
pub(crate) use hops::{Hops, Made};
pub(crate) use notes::is_total_timeout;
pub use prepare::check_locally;
pub use refusal::{Refusal, class_of};
pub use report::{AttemptReport, DispatchReport, ErrorReport, Status};

use crate::{
    Context, budget,
    catalogue::Settings,
    direct::{Company, Way, needs_opencode},
    experience::learned,
    recover::recover_abandoned,
    server::{acquire, give_up, has_read, project_stamps, refresh_instance, retire_unreadable},
    tidy::tidy,
};
use attempt::twice;
use futures_util::future::BoxFuture;
use hops::{Run, run_hops};
use prepare::{Directory, prepare, prepare_alone};
use shuntyard_agents::opencode::{ApiError, Approver, Sink};
use shuntyard_core::{
    DispatchId, Nano,
    budget::Urgency,
    config::{self, Via},
    dispatch::{Mode, Request},
    duration::Limit,
    route::Exchange,
};
use shuntyard_host::clock::now_micros;
use shuntyard_store::{DispatchEnd, HealthSource, RunStatus};
use station::{Station, late, leave};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};
use tokio::sync::OnceCell;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// The first look at a directory can make OpenCode load plugins; more than this is a hang.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// What is learned from a dispatch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Learning {
    #[default]
    All,
    /// How it went, without its text: the words are ours.
    NoText,
    /// Nothing: it is a question about other answers.
    Nothing,
}

/// What may differ from the configuration for one dispatch.
#[derive(Debug, Clone)]
pub struct Options {
    /// What it is called, when somebody has set money aside under that name already.
    pub id: Option<DispatchId>,
    pub timeout: Option<Limit>,
    pub steps: Option<u32>,
    pub provider_retries: Option<u32>,
    /// Whether a model that was named may be exchanged for another when it fails.
    pub exchange: Exchange,
    /// What the whole dispatch may cost.
    pub max_cost: Option<Nano>,
    pub urgency: Urgency,
    /// What it is charged to besides, and whose limits hold for it too.
    pub task: Option<String>,
    pub batch: Option<String>,
    /// The choice that the exact model of the request came from, when it was made before.
    pub chosen_for: Option<ChosenFor>,
    /// The kind of task, for what is learned from it, when something else chooses the model.
    pub task_type: Option<String>,
    /// The task in its own words, where the prompt puts rules of ours around it: what is remembered and classified.
    pub subject: Option<String>,
    pub learning: Learning,
    /// Whether the text itself may choose, when nothing else does.
    pub classify: bool,
    /// How it reaches its model, when the configuration is not to say it.
    pub via: Option<Via>,
    pub company: Company,
    /// What its outcome is noted as; a dispatch unless it is a probe.
    pub observed_as: Option<HealthSource>,
    /// A server of its own by this name, for a new session.
    pub slot: Option<String>,
    pub session_model: SessionModel,
    /// Who decides about permissions that its agent asks for; without anybody the configuration does.
    pub approver: Option<Arc<dyn Approver>>,
}

/// Whether a session may be gone on with by another model than the one that it had last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SessionModel {
    #[default]
    Same,
    Any,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            id: None,
            timeout: None,
            steps: None,
            provider_retries: None,
            exchange: Exchange::Routed,
            max_cost: None,
            urgency: Urgency::Normal,
            task: None,
            batch: None,
            chosen_for: None,
            task_type: None,
            subject: None,
            learning: Learning::All,
            classify: false,
            via: None,
            company: Company::Alone,
            observed_as: None,
            slot: None,
            session_model: SessionModel::Same,
            approver: None,
        }
    }
}

/// A command brings its own plan; this only ends one that runs in circles.
const COMMAND_STEPS: u32 = 100;

impl Options {
    /// Steps that a run may take.
    pub(crate) fn most_steps(&self, settings: &config::Dispatch, mode: Mode) -> u32 {
        match mode {
            Mode::Text => 1,
            Mode::Agent => self.steps.unwrap_or(settings.agent_steps),
            Mode::Command => self.steps.unwrap_or(COMMAND_STEPS),
        }
    }

    /// Whose limits hold for it.
    pub(crate) fn concern(&self) -> budget::Concern<'_> {
        budget::Concern { task: self.task.as_deref(), batch: self.batch.as_deref(), everybody: false }
    }

    /// How long the whole dispatch may take.
    fn total(&self, settings: &config::Dispatch, mode: Mode) -> Limit {
        self.timeout.unwrap_or(match mode {
            Mode::Text => settings.text_timeout,
            Mode::Agent => settings.agent_timeout,
            Mode::Command => settings.command_timeout,
        })
    }
}

/// Runs the request to its end. A refusal means that nothing was sent to any model.
// Boxed, so that the body is compiled once and not in every crate that awaits it.
pub fn dispatch<'a>(
    context: &'a Context,
    request: &'a Request,
    options: &'a Options,
    sink: &'a Sink,
    cancel: &'a CancellationToken,
) -> BoxFuture<'a, Result<DispatchReport, Refusal>> {
    Box::pin(async move {
        let began = Instant::now();
        check_locally(&context.config, request)?;
        if options.via == Some(Via::Direct)
            && let Some(why) = needs_opencode(context, request)
        {
            return Err(Refusal::NotDirect(why.to_owned()));
        }
        if let Some(report) = without_server(context, request, options, sink, cancel, began).await? {
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
            let station = OnceCell::new_with(Some(Station::new(acquired, request)));
            let run = Run { context, request, options, station: &station, id, sink, cancel };
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
            leave(station, context, id).await;
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
    sink: &Sink,
    cancel: &CancellationToken,
    began: Instant,
) -> Result<Option<DispatchReport>, Refusal> {
    if !may_be_direct(context, request, options) {
        return Ok(None);
    }
    let id = options.id.unwrap_or_else(|| DispatchId(Uuid::now_v7()));
    let station = OnceCell::new();
    let run = Run { context, request, options, station: &station, id, sink, cancel };
    let Some(mut prepared) = prepare_alone(run).await? else { return Ok(None) };
    if matches!(run.way(&prepared.resolution.model), Way::OpenCode) {
        return Ok(None);
    }
    // Told only now: a server that is asked instead tells it itself, and it is told once.
    let warnings = budget::alert(context, &prepared.lines).await?;
    let result = conclude(run, &mut prepared, warnings, began).await;
    leave(station, context, id).await;
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
    let Run { context, request, options, cancel, .. } = run;
    let Station { acquired, client, .. } = late(run.station, context, request, run.id).await?;
    let mut warnings = acquired.warnings.clone();
    let preparing = async {
        let stamps = project_stamps(&request.directory);
        let warning = refresh_instance(context, acquired.managed, client, &request.directory, &stamps).await;
        let directory = Directory { stamps: &stamps, settings: Settings::after(warning.as_ref()) };
        Ok::<_, Refusal>((prepare(context, request, options, client, acquired, &directory).await?, warning))
    };
    let (mut prepared, warning) = tokio::select! {
        prepared = tokio::time::timeout(READY_WITHIN, preparing) => {
            prepared.map_err(|_| Refusal::NotReady(shuntyard_core::duration::show(READY_WITHIN)))??
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
    prepared: &mut prepare::Prepared,
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
    if let Some(Station { acquired, client, .. }) = run.station.get()
        && acquired.managed.is_none()
    {
        // What a keeper does for its server is done here for one that has none.
        tidy(context, client, &acquired.home).await;
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

/// What is new about the limits after this dispatch. That it cannot be said must not cost the answer.
async fn announced(context: &Context, options: &Options, prepared: &prepare::Prepared) -> Vec<String> {
    if prepared.lines.is_empty() {
        return Vec::new();
    }
    let announced = async {
        let lines = budget::lines(context, options.concern()).await?;
        Ok::<_, Refusal>(budget::alert(context, &lines).await?)
    };
    announced.await.unwrap_or_else(|error| vec![format!("the budget could not be looked at: {error}")])
}
